"""report.html in headless Chromium, with no network: as wide and as narrow as people open it, by day and by night."""

from __future__ import annotations

import shutil

import pytest
from report_findings import made_up

from newsdedup_cli.report.page import page

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.skipif(not CHROMIUM, reason="no chromium (apt-get install chromium)"),
    pytest.mark.skipif(not DRIVER, reason="no chromedriver (apt-get install chromium-driver)"),
    # Selenium's own, not ours.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
]
# Letters of a chart outside its box, and elements whose content is wider than they are.
OUTSIDE = """
const found = [];
for (const svg of document.querySelectorAll('.chart svg')) {
  const box = svg.getBoundingClientRect();
  for (const text of svg.querySelectorAll('text')) {
    const r = text.getBoundingClientRect();
    const across = r.left < box.left - 1 || r.right > box.right + 1;
    if (r.width && (across || r.top < box.top - 1 || r.bottom > box.bottom + 1))
      found.push(text.textContent);
  }
}
for (const e of document.querySelectorAll('body *')) {
  const style = getComputedStyle(e);
  if (e.closest('.chart') || style.display === 'inline' || ['auto', 'scroll'].includes(style.overflowX)) continue;
  if (e.clientWidth && e.scrollWidth > e.clientWidth + 1) found.push(e.tagName + ' ' + e.className);
}
if (document.documentElement.scrollWidth > innerWidth) found.push('page');
return found;
"""
# The least contrast (WCAG) between letters and the ground they stand on.
CONTRAST = """
const light = (c) => c.map((v) => v / 255).map((v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
const ground = (e) => {
  for (; e; e = e.parentElement) {
    const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c.slice(0, 3);
  }
  return [255, 255, 255];
};
let least = [99, ''];
const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (words.nextNode()) {
  const e = words.currentNode.parentElement;
  if (['SCRIPT', 'STYLE'].includes(e.tagName) || !e.getClientRects().length) continue;
  if (!words.currentNode.textContent.trim()) continue;
  // A figure in a heat map stands on its cell, which is no element around it; page.js chooses its ink.
  if (e.closest('.heat svg')) continue;
  const ink = e.closest('svg') ? getComputedStyle(e).fill : getComputedStyle(e).color;
  const [a, b] = [light(rgb(ink).slice(0, 3)), light(ground(e))].sort((x, y) => y - x);
  const contrast = (a + .05) / (b + .05);
  if (contrast < least[0]) least = [contrast, e.tagName + ': ' + words.currentNode.textContent.slice(0, 40)];
}
return least;
"""


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.execute_cdp_cmd("Network.enable", {})
    offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    yield driver
    driver.quit()


def _open(browser, path, width, scheme="light"):
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(path.as_uri())


@pytest.fixture(scope="module", params=["en", "zh"])
def opened(request, tmp_path_factory):
    findings = made_up(300, clusters=90, candidates=80)
    findings.lang = request.param
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page(findings), "utf-8")
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_page_is_drawn_within_its_boxes(browser, opened, width, scheme):
    _open(browser, opened, width, scheme)
    charts = browser.find_elements("css selector", ".chart")
    drawn = browser.find_elements("css selector", ".chart[data-drawn] svg path")
    assert len(charts) == 8
    assert len(drawn) > 8
    assert browser.execute_script(OUTSIDE) == []
    least, where = browser.execute_script(CONTRAST)
    assert least >= 4.5, where
    assert browser.get_log("browser") == []


def test_charts_follow_the_width_and_the_scheme(browser, opened):
    _open(browser, opened, 1280, "light")
    chart = browser.find_element("css selector", ".chart")
    wide, ink = chart.size["width"], _first_ink(browser)
    size = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    browser.execute_async_script("setTimeout(arguments[0], 300)")
    svg = browser.find_element("css selector", ".chart svg")
    assert svg.size["width"] <= 390 < wide
    assert browser.execute_script(OUTSIDE) == []
    assert _first_ink(browser) != ink


def _first_ink(browser):
    return browser.execute_script("return getComputedStyle(document.querySelector('.chart svg text')).fill")
