"use strict";

// Tables: a click, or Enter, on a heading sorts its table by that column, and again the other way round.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, i) => head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach(h => h.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const numeric = head.classList.contains("number");
    const key = row => row.cells[i].dataset.sort;
    const compare = (a, b) => numeric ? Number(a) - Number(b) : a.localeCompare(b);
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => {
      if ((key(a) === "") !== (key(b) === "")) return key(a) === "" ? 1 : -1; // what is not known comes last
      return up ? compare(key(a), key(b)) : compare(key(b), key(a));
    });
    table.tBodies[0].append(...rows);
  }));
}

const sheets = [JSON.parse(document.getElementById("data").textContent)].flat();
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// element makes an element with properties, attributes for names with a dash in them, and children.
function element(tag, properties = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) name.includes("-") ? e.setAttribute(name, value) : e[name] = value;
  e.append(...children);
  return e;
}

// format writes a number with up to so many digits.
function format(v, digits = 5) {
  if (v == null || Number.isNaN(v)) return "–";
  const size = Math.abs(v);
  if (v !== 0 && (size < 1e-3 || size >= 1e7))
    return v.toExponential(Math.min(digits - 1, 3)).replace(/\.?0+e/, "e").replace("e+", "e").replace(/-/g, "−");
  return String(Number(v.toPrecision(Math.max(digits, Math.ceil(Math.log10(size + 1)))))).replace("-", "−");
}

function download(blob, name) {
  const link = element("a", {href: URL.createObjectURL(blob), download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// A Chart is one figure: it draws one of its views against the axis that all figures of its sheet share.
class Chart {
  constructor(sheet, spec) {
    const figure = document.getElementById("figure-" + spec.id);
    [this.sheet, this.spec] = [sheet, spec];
    this.view = spec.views[0];
    this.log = this.view.log;
    this.off = new Set(); // names of the lines that are switched off
    this.zoom = {};
    const button = (text, label, act) =>
      element("button", {type: "button", textContent: text, title: label, "aria-label": label, onclick: act});
    this.tools = element("div", {className: "tools", "role": "toolbar", "aria-label": spec.title});
    if (spec.views.length > 1) {
      const choice = element("select", {"aria-label": "What is drawn", onchange: () => this.show(spec.views[choice.value])},
        ...spec.views.map((v, i) => element("option", {value: i, textContent: v.title})));
      this.tools.append(choice);
    }
    this.logButton = button("log", "Logarithmic scale", () => { this.log = !this.log; this.zoom = {}; this.draw(); });
    this.reset = button("Reset", "Reset the zoom", () => { this.zoom = {}; this.draw(); });
    this.tools.append(this.logButton, button("+", "Zoom in", () => this.scale(0.5)), button("−", "Zoom out", () => this.scale(2)), this.reset,
      button("CSV", "Download the numbers as CSV", () => download(new Blob([this.csv()], {type: "text/csv"}), this.view.name + ".csv")),
      button("PNG", "Download the picture as PNG", () => this.png().toBlob(b => download(b, this.view.name + ".png"))));
    this.label = element("p", {className: "label"});
    this.box = element("div", {className: "chart", tabIndex: 0, "role": "group", onkeydown: e => this.key(e), ondblclick: () => this.reset.click(),
      "aria-label": spec.title + ": arrow keys read values, plus and minus zoom, 0 resets"});
    this.readout = element("p", {className: "readout", "aria-live": "polite"});
    this.legend = element("ul", {className: "legend"});
    figure.classList.add("plotted");
    figure.querySelector("figcaption").before(element("div", {className: "live"}, this.tools, this.label, this.box, this.readout, this.legend));
    this.draw();
    new ResizeObserver(() => requestAnimationFrame(() => {
      if (this.box.clientWidth && this.box.clientWidth !== this.plot.width) this.plot.setSize(this.size());
    })).observe(this.box);
  }

  size() {
    const wide = this.box.clientWidth;
    return {width: wide || 370, height: Math.round(Math.min(360, Math.max(240, wide * 0.6)))};
  }

  show(view) {
    [this.view, this.log, this.zoom] = [view, view.log, {}];
    this.draw();
  }

  // columns joins the lines, and the levels, over one x. Zeros are gaps on logarithmic axes.
  columns() {
    const axis = this.sheet.axes[this.sheet.axis], shownY = v => v == null || this.log && v <= 0 ? null : v;
    const tables = [], series = [{}], bands = [];
    this.lines = [];
    for (const c of this.view.curves) {
      const xs = c.x[axis.number], keep = [...xs.keys()].filter(i => (i === 0 || xs[i] > xs[i - 1]) && (!axis.log || xs[i] > 0));
      const pick = values => keep.map(i => shownY(values[i])), show = !this.off.has(c.name), few = keep.length <= 12;
      tables.push([keep.map(i => xs[i] / axis.size), pick(c.y)]);
      this.lines.push({name: c.name, color: c.color, dash: c.dash, index: series.length});
      series.push({label: c.name, show, stroke: c.color, width: 2, dash: c.dash, points: {show: few, size: 7, fill: c.color}});
      if (c.low) {
        const edge = {show, stroke: c.color + "30", width: 1, points: {show: false}};
        tables[tables.length - 1].push(pick(c.high), pick(c.low));
        bands.push({series: [series.length, series.length + 1], fill: c.color + "2E"});
        series.push({label: c.name + ", greatest", ...edge}, {label: c.name + ", least", ...edge});
      }
    }
    const xs = tables.flatMap(t => t[0]), ends = [Math.min(...xs), Math.max(...xs)];
    for (const [i, l] of (this.view.levels ?? []).entries()) {
      const dash = [[3, 4], [10, 4, 2, 4], [16, 8]][i % 3];
      if (shownY(l.y) == null || !xs.length) continue;
      tables.push([ends, [l.y, l.y]]);
      this.lines.push({name: l.name, level: l.y, dash, index: series.length});
      series.push({label: l.name, show: !this.off.has(l.name), stroke: css("--ink"), width: 2, dash, points: {show: false}});
    }
    return {columns: uPlot.join(tables), series, bands};
  }

  draw() {
    const axis = this.sheet.axes[this.sheet.axis], {columns, series, bands} = this.columns();
    const range = (key, log) => (u, low, high) => this.zoom[key] ?? padded(low, high, log, key === "y" ? 0.06 : 0.015);
    const line = {stroke: css("--grid"), width: 1};
    const ticks = {stroke: css("--muted"), grid: line, ticks: line, font: "12px system-ui, sans-serif", values: (u, at) => at.map(v => v == null ? "" : format(v, 6))};
    const logarithmic = log => log ? {splits: (u, number, low, high) => logTicks(low, high), filter: (u, at) => at} : {};
    this.plot?.destroy();
    this.plot = new uPlot({
      ...this.size(), series, bands, legend: {show: false}, padding: [10, 14, 0, 0],
      scales: {x: {time: false, distr: axis.log ? 3 : 1, range: range("x", axis.log)}, y: {distr: this.log ? 3 : 1, range: range("y", this.log)}},
      axes: [
        {...ticks, ...logarithmic(axis.log), label: axis.label, labelSize: 22, labelFont: ticks.font, size: 30, incrs: axis.count ? wholeSteps : undefined},
        {...ticks, ...logarithmic(this.log), size: (u, values) => 21 + 7 * Math.max(3, ...(values ?? []).map(v => v.length))},
      ],
      cursor: {drag: {x: true, y: true, uni: 24, dist: 5, setScale: false}, points: {size: 9}},
      hooks: {draw: [u => this.mark(u)], setCursor: [() => this.read()], setSelect: [u => setTimeout(() => this.select(u))]},
    }, columns, this.box);
    this.label.textContent = this.view.label;
    this.logButton.setAttribute("aria-pressed", this.log);
    this.reset.disabled = !this.zoom.x && !this.zoom.y;
    this.legend.replaceChildren(...this.lines.map(l => element("li", {}, this.entry(l))));
    this.read();
  }

  // mark draws upright lines where members changed, on the axis of iterations.
  mark(u) {
    const axis = this.sheet.axes[this.sheet.axis], {left, top, width, height} = u.bbox, c = u.ctx;
    if (axis.name !== "iterations") return;
    c.save();
    c.strokeStyle = css("--muted");
    c.lineWidth = devicePixelRatio;
    c.setLineDash([2 * devicePixelRatio, 4 * devicePixelRatio]);
    for (const m of this.sheet.marks ?? []) {
      const x = u.valToPos(m.x / axis.size, "x", true);
      if (x < left || x > left + width) continue;
      c.beginPath();
      c.moveTo(x, top);
      c.lineTo(x, top + height);
      c.stroke();
    }
    c.restore();
  }

  // entry is the button that switches a line on and off, with a sample of it and its value at the cursor.
  entry(l) {
    const sample = document.createElementNS("http://www.w3.org/2000/svg", "svg"), path = document.createElementNS(sample.namespaceURI, "path");
    sample.setAttribute("viewBox", "0 0 28 8");
    sample.setAttribute("class", l.color ? "sample" : "sample level");
    sample.setAttribute("aria-hidden", "true");
    path.setAttribute("d", "M0 4H28");
    path.setAttribute("stroke-dasharray", l.dash.join(" "));
    if (l.color) path.setAttribute("stroke", l.color);
    sample.append(path);
    l.value = element("b");
    return element("button", {type: "button", "aria-pressed": !this.off.has(l.name), onclick: e => {
      if (!this.off.delete(l.name)) this.off.add(l.name);
      const place = this.lines.indexOf(l);
      this.draw();
      this.legend.children[place].firstChild.focus();
    }}, sample, l.name || this.spec.title, l.value);
  }

  // read shows the values at the cursor, or else those of the last points.
  read() {
    const u = this.plot, axis = this.sheet.axes[this.sheet.axis];
    if (!u || !this.lines.length || !this.lines[0].value) return;
    const at = u.cursor.idx, hovered = at != null && u.cursor.left >= 0;
    const here = hovered && axis.name === "iterations" ? (this.sheet.marks ?? []).filter(m => m.x / axis.size === u.data[0][at]).map(m => ": " + m.text).join("") : "";
    this.readout.textContent = hovered ? "At " + axis.label + " = " + format(u.data[0][at]) + here : "Drag to zoom; the values are the last ones.";
    for (const l of this.lines) {
      const column = u.data[l.index];
      let i = hovered ? u.cursor.idxs[l.index] ?? at : column.length - 1;
      while (i > 0 && column[i] == null) i--;
      l.value.textContent = format(l.level ?? column[i], 5);
    }
  }

  select(u) {
    const {left, top, width, height} = u.select;
    if (u !== this.plot || width < 5 && height < 5) return;
    const zoom = {...this.zoom};
    if (width >= 5 && width < u.over.clientWidth - 1) zoom.x = [u.posToVal(left, "x"), u.posToVal(left + width, "x")];
    if (height >= 5 && height < u.over.clientHeight - 1) zoom.y = [u.posToVal(top + height, "y"), u.posToVal(top, "y")];
    this.zoomTo(zoom);
  }

  zoomTo(zoom) {
    if ([zoom.x, zoom.y].some(r => r && !(r[1] - r[0] > 1e-12 * Math.max(Math.abs(r[0]), Math.abs(r[1]))))) return;
    this.zoom = zoom;
    this.draw();
  }

  // scale zooms x by a factor around the cursor, or around the middle.
  scale(factor) {
    const u = this.plot, wide = u.over.clientWidth, middle = u.cursor.left >= 0 ? u.cursor.left : wide / 2;
    const ends = [middle - factor * middle, middle + factor * (wide - middle)].map(p => u.posToVal(p, "x"));
    this.zoomTo({...this.zoom, x: ends});
  }

  key(e) {
    const u = this.plot, step = {ArrowLeft: -1, ArrowRight: 1}[e.key];
    if (e.target !== this.box) return;
    if (step) {
      const last = u.data[0].length - 1, i = u.cursor.idx == null || u.cursor.left < 0 ? (step > 0 ? 0 : last) : Math.min(last, Math.max(0, u.cursor.idx + step));
      u.setCursor({left: u.valToPos(u.data[0][i], "x"), top: u.over.clientHeight / 2});
    } else if (e.key === "+" || e.key === "-") this.scale(e.key === "+" ? 0.5 : 2);
    else if (e.key === "0") this.reset.click();
    else return;
    e.preventDefault();
  }

  // csv returns all numbers of the view, against all axes in their basic units.
  csv() {
    const quote = s => /[",\n\r]/.test(s) ? '"' + s.replaceAll('"', '""') + '"' : s;
    const rows = [["line", ...this.sheet.axes.map(a => a.name), "value", "least", "greatest"]];
    for (const c of this.view.curves)
      c.y.forEach((y, i) => rows.push([c.name || this.spec.title, ...this.sheet.axes.map(a => c.x[a.number][i]), y ?? "", c.low?.[i] ?? "", c.high?.[i] ?? ""]));
    for (const l of this.view.levels ?? []) rows.push([l.name, ...this.sheet.axes.map(() => ""), l.y, "", ""]);
    return rows.map(r => r.map(v => quote(String(v))).join(",") + "\n").join("");
  }

  // png returns a canvas with title, label, lines and legend.
  png() {
    const from = this.plot.ctx.canvas, scale = from.width / this.plot.width, shown = this.lines.filter(l => !this.off.has(l.name)), row = 20;
    const canvas = element("canvas", {width: from.width, height: from.height + scale * (44 + row * shown.length)}), c = canvas.getContext("2d");
    c.scale(scale, scale);
    c.fillStyle = css("--card");
    c.fillRect(0, 0, this.plot.width, canvas.height / scale);
    c.fillStyle = css("--ink");
    c.font = "600 14px system-ui, sans-serif";
    c.fillText(this.spec.title, 8, 18);
    c.font = "12px system-ui, sans-serif";
    c.fillText(this.view.label, 8, 36);
    c.drawImage(from, 0, 40, this.plot.width, this.plot.height);
    shown.forEach((l, i) => {
      const y = 52 + this.plot.height + row * i - 8;
      c.strokeStyle = l.color ?? css("--ink");
      c.lineWidth = 2;
      c.setLineDash(l.dash);
      c.beginPath();
      c.moveTo(10, y);
      c.lineTo(40, y);
      c.stroke();
      c.fillText(l.name || this.spec.title, 48, y + 4);
    });
    return canvas;
  }
}

// padded widens a range by a share of itself.
function padded(low, high, log, share) {
  if (low == null || high == null) return log ? [0.1, 10] : [0, 1];
  if (log) {
    const pad = Math.max((high / low) ** share, low === high ? 2 : 1.02);
    return [low / pad, high * pad];
  }
  const pad = (high - low) * share || Math.abs(high) * 0.05 || 1;
  return [low - pad, high + pad];
}

// logTicks returns the ticks of a logarithmic axis: powers of ten, with their doubles and halves where there are few.
function logTicks(low, high) {
  const decades = Math.log10(high / low), ticks = [], add = v => { if (v >= low && v <= high) ticks.push(Number(v.toPrecision(12))); };
  if (decades < 0.8) { // as on a linear axis
    const rough = (high - low) / 5, power = 10 ** Math.floor(Math.log10(rough)), step = power * [1, 2, 5, 10].find(m => m * power >= rough);
    for (let i = Math.ceil(low / step); i * step <= high; i++) add(i * step);
    return ticks;
  }
  const every = Math.ceil(decades / 8);
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++)
    if (decades > 3 && e % every === 0) add(10 ** e);
    else if (decades <= 3) [1, 2, 5].forEach(m => add(m * 10 ** e));
  return ticks;
}

const wholeSteps = Array.from({length: 12}, (_, e) => [1, 2, 5].map(m => m * 10 ** e)).flat();

const charts = sheets.flatMap((sheet, k) => {
  sheet.axis = 0;
  const own = sheet.figures?.map(f => new Chart(sheet, f)) ?? [], axes = document.querySelectorAll(".axes")[k];
  if (sheet.axes.length > 1 && axes) {
    axes.append(...sheet.axes.map((a, i) => element("label", {}, element("input", {type: "radio", name: "axis" + k, id: "axis-" + (k || "") + a.name, checked: i === 0, onchange: () => {
      sheet.axis = i;
      own.forEach(c => { delete c.zoom.x; c.draw(); });
    }}), a.title)));
    axes.hidden = false;
  }
  return own;
});
for (const media of ["(prefers-color-scheme: dark)", "print"])
  matchMedia(media).addEventListener("change", () => charts.forEach(c => c.draw()));
