// Figures: drawn when they come into view, all of them before printing.
(() => {
  const hidden = new Set(); // "system\nmethod" of what is unticked
  const plots = [...document.querySelectorAll(".plot")];
  const specs = new Map();
  const narrow = 560;
  let loaded = null;

  report.plotly = () => {
    loaded ||= report.unpack("plotly").then((source) => {
      const script = document.createElement("script");
      script.textContent = source;
      document.head.append(script);
      document.getElementById("plotly").remove();
      script.remove();
      return window.Plotly;
    });
    return loaded;
  };

  // Nothing of this page is sent anywhere: the library's own button to share a chart uploads it.
  report.config = { displaylogo: false, showSendToCloud: false, plotlyServerURL: "", modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };

  // Plotly reads tags in texts; names of instances are nobody's tags.
  const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

  const hover = (i) => {
    const row = report.row(i);
    const seed = row.seed === null ? "" : ` #${row.seed}`;
    const open = row.certified ? "" : " (not certified)";
    return `${escaped(row.method)}${seed} on ${escaped(row.instance)}<br>ratio ${report.ratio(row.low, row.high)}${open}`;
  };

  // A copy of a trace with the colours of the theme and the words of its runs.
  const dressed = (trace, system, colours) => {
    const copy = { ...trace, visible: !hidden.has(`${system}\n${trace.meta}`), showlegend: false };
    for (const part of ["marker", "line"]) {
      if (copy[part]?.color === "ink") copy[part] = { ...copy[part], color: colours.ink };
    }
    if (copy.customdata && copy.hoverinfo !== "skip") {
      copy.text = copy.customdata.map(hover);
      copy.hovertemplate = "%{text}<extra></extra>";
    }
    return copy;
  };

  const axis = (given, colours) => ({
    gridcolor: colours.rule, linecolor: colours.soft, zeroline: false, automargin: true, ...given,
    title: { standoff: 8, ...(given?.title || {}) },
  });

  report.layout = (given, colours, width) => {
    const layout = {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: "system-ui, sans-serif", size: width < narrow ? 11 : 12.5, color: colours.ink },
      margin: { l: 60, r: 14, t: 12, b: 44 }, hovermode: "closest",
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colours.soft, activecolor: colours.ink },
      hoverlabel: { bgcolor: colours.card, font: { color: colours.ink } },
      ...given, width,
      xaxis: axis(given.xaxis, colours), yaxis: axis(given.yaxis, colours),
    };
    const longest = layout.meta === "rows" ? Math.max(...layout.yaxis.ticktext.map((text) => text.length)) : 0;
    if (layout.meta === "rows" && (width < narrow || longest > width / 20)) {
      // On a phone, and where they are long, the names of the methods stand above their rows.
      const { ticktext, tickvals } = layout.yaxis;
      layout.annotations = ticktext.map((text, k) => ({
        text: escaped(text), xref: "paper", x: 0, xanchor: "left", y: tickvals[k] + 0.46, yanchor: "middle", showarrow: false, font: { size: 10.5 },
      }));
      layout.yaxis = { ...layout.yaxis, showticklabels: false };
      layout.margin.l = 10;
      layout.height = 46 * ticktext.length + 90;
    } else if (layout.meta === "rows") {
      layout.yaxis.ticktext = layout.yaxis.ticktext.map(escaped);
    }
    return layout;
  };

  // The traces and the layout of the chosen variant.
  const content = (plot, width, theme, height) => {
    const spec = specs.get(plot.dataset.figure);
    const select = document.querySelector(`select[data-figure="${plot.dataset.figure}"]`);
    const variant = spec.variants[select ? Number(select.value) : 0];
    const colours = report.colours(theme);
    const traces = variant.traces.map((trace) => dressed(trace, plot.dataset.system, colours));
    return { traces, layout: report.layout({ height, ...variant.layout }, colours, width) };
  };

  const draw = (plot, width = plot.clientWidth, theme = report.theme(), height = 340) => {
    const { traces, layout } = content(plot, width, theme, height);
    plot.querySelector(".wait")?.remove();
    plot.dataset.drawn = "";
    plot.dataset.width = width;
    const config = { ...report.config, displayModeBar: matchMedia("(hover: hover)").matches ? "hover" : false };
    window.Plotly.react(plot, traces, layout, config);
    if (!plot.dataset.listens) {
      plot.dataset.listens = "";
      plot.on("plotly_click", ({ points: [point] }) => {
        if (typeof point.customdata === "number") report.open(point.customdata);
      });
    }
  };

  // The figure as it is seen, in light colours on white, with a legend where rows are not named.
  const asSvg = async (plot) => {
    await Promise.all([report.plotly(), prepared(plot)]);
    const { traces, layout } = content(plot, 900, "light", 420);
    const named = new Set();
    const shown = traces.filter((trace) => trace.visible).map((trace) => {
      const first = layout.meta !== "rows" && trace.mode !== "text" && trace.fill !== "toself" && !named.has(trace.meta);
      if (first) named.add(trace.meta);
      return { ...trace, name: escaped(trace.meta), showlegend: first };
    });
    const paper = { ...layout, paper_bgcolor: "#ffffff", plot_bgcolor: "#ffffff", showlegend: layout.meta !== "rows" };
    const url = await window.Plotly.toImage({ data: shown, layout: paper }, { format: "svg", width: paper.width, height: paper.height });
    return decodeURIComponent(url.slice(url.indexOf(",") + 1));
  };

  const prepared = async (plot) => {
    const name = plot.dataset.figure;
    if (!specs.has(name)) specs.set(name, await report.json(`spec-${name}`));
  };

  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      Promise.all([report.plotly(), prepared(target)]).then(() => draw(target)).catch(report.failed);
    }
  }, { rootMargin: "1000px" });

  // What is in view is drawn at once, the rest when it comes into view.
  const redraw = (chosen = () => true) => plots.filter(chosen).forEach((plot) => {
    delete plot.dataset.drawn;
    seen.unobserve(plot);
    seen.observe(plot);
  });

  report.startFigures = () => {
    redraw();

    document.querySelectorAll("select[data-figure]").forEach((select) => {
      const label = () => select.closest("label").setAttribute("data-chosen", ` ${select.selectedOptions[0].text}`);
      label();
      select.addEventListener("change", () => {
        label();
        redraw((plot) => plot.dataset.figure === select.dataset.figure);
      });
    });

    document.querySelectorAll("button.svg").forEach((button) => button.addEventListener("click", () => {
      const plot = plots.find((p) => p.dataset.figure === button.dataset.figure);
      asSvg(plot).then((text) => report.save(text, "image/svg+xml", `${button.dataset.figure}.svg`)).catch(report.failed);
    }));

    const boxes = [...document.querySelectorAll("input[data-method]")];
    const legend = [...document.querySelectorAll(".legend li")];
    const toggle = (box) => {
      const name = `${box.dataset.system}\n${box.dataset.method}`;
      if (box.checked) hidden.delete(name);
      else hidden.add(name);
      for (const item of legend) {
        if (item.dataset.system === box.dataset.system && item.dataset.method === box.dataset.method) item.hidden = !box.checked;
      }
    };
    boxes.forEach((box) => {
      toggle(box);
      box.addEventListener("change", () => {
        toggle(box);
        redraw((plot) => plot.dataset.system === box.dataset.system);
      });
    });
    document.querySelectorAll("button.all").forEach((button) => button.addEventListener("click", () => {
      const own = boxes.filter((box) => box.dataset.system === button.dataset.system);
      const on = own.some((box) => !box.checked);
      own.forEach((box) => { box.checked = on; toggle(box); });
      redraw((plot) => plot.dataset.system === button.dataset.system);
    }));

    document.addEventListener("theme", () => redraw());
    let waiting = null;
    const resized = (plot) => plot.dataset.width && Number(plot.dataset.width) !== plot.clientWidth;
    const sizes = new ResizeObserver(() => {
      clearTimeout(waiting);
      if (plots.some(resized)) waiting = setTimeout(() => redraw(resized), 150);
    });
    plots.forEach((plot) => sizes.observe(plot));
    // Printing cannot wait for anything: what it needs is unpacked while nobody looks.
    const idle = window.requestIdleCallback || ((then) => setTimeout(then, 200));
    idle(() => Promise.all([report.plotly(), ...plots.map(prepared)]).then(() => {
      document.documentElement.dataset.printable = "";
    }).catch(report.failed));
    addEventListener("beforeprint", () => {
      if (!window.Plotly || specs.size < plots.length) return;
      plots.forEach((plot) => draw(plot, 680, "light", 260));
    });
    addEventListener("afterprint", () => redraw());
  };
})();
