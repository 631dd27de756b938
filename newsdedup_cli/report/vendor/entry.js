export { init } from 'echarts/core';
import { use } from 'echarts/core';
import { BarChart, HeatmapChart } from 'echarts/charts';
import { GridComponent, TooltipComponent, MarkLineComponent, VisualMapContinuousComponent, AriaComponent } from 'echarts/components';
import { SVGRenderer } from 'echarts/renderers';
use([BarChart, HeatmapChart, GridComponent, TooltipComponent, MarkLineComponent, VisualMapContinuousComponent, AriaComponent, SVGRenderer]);
