// One run: what was asked, what came out, what proves it, its picture and its trace.
(() => {
  const { make } = report;
  const dialog = document.getElementById("run");
  const inside = dialog.querySelector(".inside");
  let shown = null;

  const pairs = (entries) => make("dl", {}, ...entries.filter(([, value]) => value !== "" && value !== null && value !== undefined)
    .flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));

  const VOUCHERS = { verified: "verified, recomputed without a solver", "cross-checked": "cross-checked by an independent run", solver: "claimed by a solver only" };

  const rated = (row) => {
    const text = report.ratio(row.low, row.high);
    if (!text) return "";
    const rests = row.rests_on ? `; the bound it rests on: ${VOUCHERS[row.rests_on]}` : "";
    return row.certified ? `${text}, certified${rests}` : `${text}, not certified${row.high === null ? ": no dual bound is known" : rests}`;
  };

  const theorem = (t) => {
    const said = t.ratio === null ? "no finite ratio" : `ratio ${report.theorem(t.ratio)}`;
    // A theorem without a name of its own is called by its place in the paper.
    const place = t.name.includes(t.reference) || t.reference.includes(t.name) ? "" : `, ${t.reference}`;
    const name = t.reference.includes(t.name) ? t.reference : t.name;
    const failing = t.failing.length ? `; does not apply here, as it needs: ${t.failing.join("; ")}` : "";
    return make("li", { class: t.verdict === "exceeded" ? "alarm" : null }, `${name} (${t.standing}${place}): ${said}, ${t.verdict}${failing}`);
  };

  const plotted = async (place, traces, layout, colours) => {
    await report.plotly();
    if (!place.isConnected) return;
    window.Plotly.newPlot(place, traces, report.layout(layout, colours, place.clientWidth), report.config);
  };

  const trace = async (section, events) => {
    if (!events || events.length < 2) return;
    const colours = report.colours();
    const curve = (name, k, colour, dash) => ({
      type: "scatter", mode: "lines+markers", name, x: events.map((e) => e[0]), y: events.map((e) => e[k]),
      line: { shape: "hv", color: colour, dash, width: 2 }, marker: { size: 5 }, connectgaps: true,
    });
    const traces = [curve("incumbent", 1, "#0072B2", "solid"), curve("dual bound", 2, "#D55E00", "dash")].filter((t) => t.y.some((y) => y !== null));
    const place = make("div", { class: "trace" });
    section.append(make("h3", {}, "Trace"), place);
    await plotted(place, traces, { height: 260, xaxis: { title: { text: "seconds" } }, yaxis: { title: { text: "objective" } }, legend: { orientation: "h", y: 1.15 } }, colours);
  };

  const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

  const picture = async (section, row, detail) => {
    if (!detail.solved) return;
    section.append(make("h3", {}, "Solution"));
    const command = `gadgetopt plot ${quoted(report.data.store)} --run ${row.key} --out picture.html`;
    if (row.picture === null) {
      section.append(make("p", {}, detail.no_picture || "This page does not contain the picture. To draw it, run"), make("pre", {}, command));
      return;
    }
    const place = make("div", { class: "sheet picture" });
    section.append(place, make("p", { class: "note" }, "To draw it into a file: ", make("code", {}, command)));
    const figure = await report.json(`picture-${row.picture}`);
    await report.plotly();
    if (!place.isConnected) return;
    const layout = { paper_bgcolor: "#fff", plot_bgcolor: "#fff", font: { color: "#222" }, ...figure.layout };
    layout.width = Math.max(place.clientWidth, Math.min(layout.width || 0, 2400), 520);
    await window.Plotly.newPlot(place, figure.data, layout, report.config);
    place.dataset.drawn = "";
  };

  report.open = async (i) => {
    const row = report.row(i);
    const detail = (await report.json(`details-${Math.floor(i / report.data.chunk)}`))[i % report.data.chunk];
    shown = i;
    const seed = row.seed === null ? "" : ` #${row.seed}`;
    const close = make("button", { type: "button", onclick: () => dialog.close(), autofocus: "" }, "close");
    const [solution, course] = [make("section"), make("section")];
    const written = (map) => map && Object.entries(map).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`).join(", ");
    inside.replaceChildren(
      make("div", { class: "top" }, make("h2", { id: "run-title" }, `${row.method}${seed} on ${row.instance}`), close),
      pairs([
        ["status", `${report.data.signs[row.status]} ${row.status}${row.limit ? ` (stopped by ${row.limit})` : ""}`],
        ["reason", detail.reason],
        ["objective", report.number(row.objective)],
        ["said of it", detail.claimed !== undefined && detail.claimed !== row.objective ? `${report.number(detail.claimed)} (the method's own word)` : ""],
        ["dual bound", row.bound === null ? "" : `${report.number(row.bound)}, ${VOUCHERS[row.voucher]}`],
        ["proof", row.proof],
        ["gap", report.gap(row.gap, 2)],
        ["ratio", rated(row)],
        ["time", report.seconds(row.time_s) + (detail.phases_s ? ` (${Object.entries(detail.phases_s).map(([name, t]) => `${name.replaceAll("_", " ")} ${report.seconds(Number(t))}`).join(", ")})` : "")],
      ]),
      solution,
      course,
      detail.theorems ? make("section", {}, make("h3", {}, "Theorems"), make("ul", {}, ...detail.theorems.map(theorem))) : "",
      make("h3", {}, "Details"),
      pairs([
        ["parameters", written(detail.parameters)],
        ["parts of the objective", written(detail.components)],
        ["notes", written(detail.notes)],
        ["rests on", [detail.formulation, detail.backend].filter(Boolean).join(" by ")],
        ["limits", written(detail.limits)],
        ["source code", detail.code],
        ["versions", [`gadgetopt ${detail.version}`, written(detail.versions)].filter(Boolean).join(", ")],
        ["finished", `${detail.finished_at.replace("T", " ").slice(0, 19)} UTC`],
        ["system", row.system],
        ["key", detail.key],
      ]),
    );
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    history.replaceState(null, "", `#run-${row.key}`);
    await picture(solution, row, detail);
    await trace(course, detail.trace);
  };

  dialog.addEventListener("close", () => {
    inside.querySelectorAll(".js-plotly-plot").forEach((plot) => window.Plotly.purge(plot));
    inside.replaceChildren();
    shown = null;
    history.replaceState(null, "", location.pathname + location.search);
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  document.addEventListener("theme", () => { if (shown !== null) report.open(shown); });

  report.startRuns = () => {
    const asked = () => {
      if (!location.hash.startsWith("#run-")) return;
      const i = report.data.columns.key.indexOf(location.hash.slice(5));
      if (i >= 0) report.open(i).catch(report.failed);
    };
    addEventListener("hashchange", asked);
    asked();
  };
})();
