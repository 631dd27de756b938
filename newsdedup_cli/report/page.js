"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("figures").textContent);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const number = new Intl.NumberFormat(document.documentElement.lang || "en");
  const escaped = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  const compact = new Intl.NumberFormat(document.documentElement.lang || "en", { notation: "compact" });
  const FONT = getComputedStyle(document.body).fontFamily;

  function tooltip(formatter, trigger) {
    return {
      trigger, formatter, confine: true, backgroundColor: colour("card"), borderColor: colour("line"),
      textStyle: { color: colour("ink"), fontFamily: FONT, fontSize: 13 },
      axisPointer: { type: "shadow", shadowStyle: { color: colour("line"), opacity: 0.35 } },
    };
  }

  function values() {
    return {
      type: "value", minInterval: 1, splitNumber: 4, axisLine: { show: false }, axisTick: { show: false },
      axisLabel: { color: colour("soft"), fontSize: 12, formatter: (v) => compact.format(v), hideOverlap: true },
      splitLine: { lineStyle: { color: colour("line") } },
    };
  }

  function categories(chart, width) {
    return {
      type: "category", data: chart.names, axisTick: { show: false },
      axisLine: { lineStyle: { color: colour("line") } },
      axisLabel: { color: colour("soft"), fontSize: 12, hideOverlap: true, width, overflow: "truncate" },
    };
  }

  function series(chart, across) {
    return chart.series.map((one) => ({
      name: one.name, type: "bar", barMaxWidth: 26, barGap: "10%", barCategoryGap: "25%",
      // A bar that is not zero is to be seen, however small.
      barMinHeight: 2,
      data: one.values.map((value, i) => ({
        value: value || null, itemStyle: { color: colour(one.each ? one.each[i] : one.colour), borderRadius: 2 },
      })),
      label: {
        show: across || Boolean(chart.labels), position: across ? "right" : "top", color: colour("ink"),
        fontSize: 12, formatter: (p) => number.format(p.value),
      },
    }));
  }

  // A line stands before its category. A category axis rounds to whole categories, so it has an axis of its own.
  function lines(chart) {
    return {
      type: "bar", xAxisIndex: 1, data: [], silent: true,
      markLine: {
        symbol: "none", silent: true, animation: false,
        lineStyle: { color: colour("ink"), type: "dashed", width: 1 },
        label: { color: colour("ink"), fontSize: 12, formatter: (p) => p.name },
        data: chart.marks.map((m) => ({ name: m.label, xAxis: m.before })),
      },
    };
  }

  function barTooltip(chart) {
    return tooltip((points) => {
      const rows = points.filter((p) => p.value).map((p) =>
        `${escaped(p.seriesName)}: <b>${number.format(p.value)}</b>`);
      return [escaped(points[0].name), ...(rows.length ? rows : ["0"])].join("<br>");
    }, "axis");
  }

  function bars(chart, width) {
    const across = chart.kind === "across";
    const side = Math.min(170, Math.round(width * 0.36));
    const names = categories(chart, across ? side : undefined);
    if (across) names.inverse = true;
    const marked = Boolean(chart.marks && chart.marks.length);
    const edges = { type: "value", min: 0, max: chart.names.length, show: false };
    return {
      xAxis: across ? values() : marked ? [names, edges] : names, yAxis: across ? names : values(),
      grid: { left: 4, right: across ? 52 : 14, top: marked || chart.labels ? 26 : 12, bottom: 4 },
      tooltip: barTooltip(chart), series: marked ? [...series(chart, across), lines(chart)] : series(chart, across),
    };
  }

  const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  const luminance = (rgb) => rgb.map((v) => (v / 255) ** 2.2)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0.05);

  // The ground of a cell goes from heat0 to heat1: of the two inks the one that is read better on it.
  function inkOn(share) {
    const [low, high] = [channels(colour("heat0")), channels(colour("heat1"))];
    const ground = luminance(low.map((v, i) => v + (high[i] - v) * share));
    const contrast = (name) => Math.abs(Math.log(luminance(channels(colour(name))) / ground));
    return colour(contrast("ink") > contrast("card") ? "ink" : "card");
  }

  function heat(chart, width) {
    const side = Math.min(150, Math.round(width * 0.27));
    const most = Math.max(...chart.cells.map((c) => c[2]));
    const columns = categories(chart, side);
    const cell = (width - side) / chart.names.length;
    // Names stand upright where their column is too narrow for them.
    const lying = cell > 110;
    columns.axisLabel = {
      ...columns.axisLabel, rotate: lying ? 0 : 90, interval: 0, width: lying ? Math.round(cell) - 8 : 110,
    };
    columns.splitArea = { show: false };
    const rows = categories({ names: chart.lines }, side);
    rows.inverse = true;
    rows.axisLabel.interval = 0;
    return {
      xAxis: columns, yAxis: rows, grid: { left: 4, right: 8, top: 8, bottom: 4 },
      visualMap: { show: false, min: 0, max: most, inRange: { color: [colour("heat0"), colour("heat1")] } },
      tooltip: tooltip((p) =>
        `${escaped(chart.names[p.value[0]])} ← ${escaped(chart.lines[p.value[1]])}: <b>${number.format(p.value[2])}</b> ${escaped(chart.unit)}`,
        "item"),
      series: [{
        type: "heatmap", itemStyle: { borderColor: colour("card"), borderWidth: 1 },
        data: chart.cells.map((c) => ({
          value: c, label: {
            show: compact.format(c[2]).length * 8 < cell, fontSize: 11, formatter: (p) => compact.format(p.value[2]),
            color: inkOn(c[2] / most),
          },
        })),
      }],
    };
  }

  const drawn = [];
  function draw(place) {
    const chart = charts[place.dataset.chart];
    const width = place.clientWidth;
    const option = chart.kind === "heat" ? heat(chart, width) : bars(chart, width);
    option.animation = false;
    option.textStyle = { fontFamily: FONT };
    option.aria = { enabled: true };
    place.instance.setOption(option, true);
    place.dataset.drawn = "yes";
  }

  for (const place of document.querySelectorAll(".chart")) {
    place.textContent = "";
    place.instance = echarts.init(place, null, { renderer: "svg" });
    drawn.push(place);
    draw(place);
  }
  const again = () => drawn.forEach((place) => { place.instance.resize(); draw(place); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  let waiting = 0;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(again, 80); });
})();
