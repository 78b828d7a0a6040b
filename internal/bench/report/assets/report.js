// SPDX-License-Identifier: Apache-2.0

// Draws the panels of a page: each has series over the seconds since the load
// began, with the measured time shaded, or over what the panel names.
(() => {
  const { panels } = JSON.parse(document.getElementById('data').textContent);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const height = 240;
  // Told apart by hue, and on both backgrounds.
  const colors = ['#3b82f6', '#f59e0b', '#10b981', '#ef4444', '#8b5cf6', '#06b6d4', '#ec4899', '#84cc16', '#f97316', '#14b8a6'];
  const charts = [];

  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function options(panel, width) {
    const axis = { stroke: variable('--faint'), grid: { stroke: variable('--grid') }, ticks: { stroke: variable('--line') } };
    // What lies on others is as high as all of them, and is what it is itself.
    const own = (number, series, at) => (number != null && panel.stacked ? panel.series[series - 1].y[at] : number);
    const written = (number) => (number == null ? '–' : `${number.toLocaleString('en', { maximumFractionDigits: 2 })} ${panel.unit}`);
    const value = (_, number, series, at) => written(own(number, series, at));
    const fill = (color) => (panel.stacked ? `${color}66` : undefined);
    return {
      width,
      height,
      scales: { x: { time: false }, y: { range: (_, min, max) => [Math.min(0, min), max > 0 ? max * 1.05 : 1] } },
      axes: [
        { ...axis, label: panel.axis ?? 'seconds since the load began', labelSize: 20 },
        { ...axis, label: panel.unit, labelSize: 20, size: 70 },
      ],
      series: [
        { label: panel.axis ?? 'second', value: (_, number) => (number == null ? '–' : number.toFixed(panel.axis ? 0 : 1)) },
        ...panel.series.map(({ label, color, dash }) => ({
          label,
          value,
          stroke: colors[color % colors.length],
          fill: fill(colors[color % colors.length]),
          width: 1.5,
          dash: dash ? [6, 4] : undefined,
          spanGaps: true,
          // Few and far apart, unlike seconds.
          points: { show: panel.axis !== undefined },
        })),
      ],
      bands: panel.stacked ? panel.series.slice(1).map((_, below) => ({ series: [below + 2, below + 1] })) : [],
      hooks: { drawClear: [(chart) => shade(chart, panel.window)] },
    };
  }

  // Each series on the sum of those before; all have the same places.
  function stack(series) {
    const sums = series[0].x.map(() => 0);
    return [series[0].x, ...series.map(({ y }) => y.map((number, at) => (sums[at] += number)))];
  }

  function shade(chart, window) {
    if (!window) {
      return;
    }
    const { ctx, bbox } = chart;
    const within = (seconds) => Math.min(Math.max(chart.valToPos(seconds, 'x', true), bbox.left), bbox.left + bbox.width);
    const [begin, end] = window.map(within);
    ctx.save();
    ctx.fillStyle = variable('--shade');
    ctx.fillRect(begin, bbox.top, end - begin, bbox.height);
    ctx.restore();
  }

  function draw() {
    charts.splice(0).forEach((chart) => chart.destroy());
    for (const panel of panels) {
      const place = document.querySelector(`[data-panel="${panel.id}"]`);
      const drawing = place.querySelector('.chart');
      const points = panel.series.reduce((sum, { x }) => sum + x.length, 0);
      if (points > 0) {
        const data = panel.stacked ? stack(panel.series) : uPlot.join(panel.series.map(({ x, y }) => [x, y]));
        charts.push(new uPlot(options(panel, drawing.clientWidth), data, drawing));
      }
      place.dataset.state = points > 0 ? 'shown' : 'empty';
    }
  }

  draw();
  dark.addEventListener('change', draw);
  addEventListener('resize', () => charts.forEach((chart) => chart.setSize({ width: chart.root.parentElement.clientWidth, height })));
})();
