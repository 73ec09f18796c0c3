// The table of all runs: filtered and sorted as arrays of positions, rows made as one scrolls.
(() => {
  const { make } = report;
  const form = document.getElementById("filters");
  const body = document.querySelector("#table tbody");
  const BATCH = 60;
  const PRINTED = 300;
  let order = [];
  let made = 0;
  let sorting = { name: null, down: false };

  const LETTER = { verified: "v", "cross-checked": "c", solver: "s" };
  const voucher = (name, proof) => (name ? make("sup", { title: proof ? `${name}: ${proof}` : name }, ` ${LETTER[name]}`) : null);

  const ratio = (row) => {
    const text = report.ratio(row.low, row.high);
    if (!text) return [];
    if (row.certified) return [text, voucher(row.rests_on)];
    return [make("span", { class: "open", title: "not certified" }, text), voucher(row.rests_on)];
  };

  const theorem = (row) => {
    const most = row.theorem === null ? "" : row.theorem > report.data.vacuous ? report.theorem(row.theorem) : report.ratio(row.theorem, row.theorem);
    if (row.exceeded === "proven") return [make("b", { class: "alarm" }, `⚠ ${most} exceeded`)];
    return [most, row.exceeded && make("small", {}, "claim exceeded")];
  };

  // name, what a cell shows, what it is sorted by, whether it is a number
  const COLUMNS = [
    ["instance", (r, i) => [make("button", { type: "button", class: "link", onclick: () => report.open(i).catch(report.failed) }, ...report.breakable(r.instance))], (r) => r.instance],
    ["system", (r) => [r.system], (r) => r.system],
    ["method", (r) => report.breakable(r.method + (r.seed === null ? "" : ` #${r.seed}`)), (r) => r.method],
    ["status", (r) => [`${report.data.signs[r.status]} ${r.status}${r.limit ? `, ${r.limit === "time_s" ? "time limit" : r.limit === "memory_mb" ? "memory limit" : r.limit}` : ""}`], (r) => Object.keys(report.data.signs).indexOf(r.status)],
    ["objective", (r) => [report.number(r.objective)], (r) => r.objective, true],
    ["dual bound", (r) => [report.number(r.bound), voucher(r.voucher, r.proof)], (r) => r.bound, true],
    ["gap", (r) => [report.gap(r.gap, 1)], (r) => r.gap, true],
    ["ratio", ratio, (r) => report.value(r.low ?? r.high), true],
    ["theorem", theorem, (r) => r.theorem, true],
    ["time", (r) => [report.seconds(r.time_s)], (r) => r.time_s, true],
    ["picture", (r) => [r.picture === null ? "" : "▦"], (r) => (r.picture === null ? 1 : 0)],
  ];

  const columns = () => COLUMNS.filter(([name]) => name !== "system" || new Set(report.data.columns.system).size > 1);

  const wanted = () => {
    const c = report.data.columns;
    const f = Object.fromEntries(new FormData(form));
    const words = f.text.toLowerCase().split(/\s+/).filter(Boolean);
    const solved = (i) => ["optimal", "feasible"].includes(c.status[i]);
    const fits = {
      "": () => true, certified: (i) => c.certified[i], open: (i) => !c.certified[i] && solved(i),
      solver: (i) => c.certified[i] && c.rests_on[i] === "solver", exceeded: (i) => c.exceeded[i], none: (i) => c.low[i] === null,
    }[f.ratio];
    const out = [];
    for (let i = 0; i < c.key.length; i++) {
      if (f.system && c.system[i] !== f.system) continue;
      if (f.method && c.method[i] !== f.method) continue;
      if (f.kind && c.kind[i] !== f.kind) continue;
      if (f.status && c.status[i] !== f.status) continue;
      if (!fits(i)) continue;
      const text = `${c.instance[i]} ${c.method[i]}`.toLowerCase();
      if (words.every((word) => text.includes(word))) out.push(i);
    }
    return out;
  };

  // What has no value comes last, in either direction.
  const sorted = (positions) => {
    const column = COLUMNS.find(([name]) => name === sorting.name);
    if (!column) return positions;
    const keys = new Map(positions.map((i) => [i, column[2](report.row(i))]));
    const sign = sorting.down ? -1 : 1;
    return positions.sort((a, b) => {
      const [x, y] = [keys.get(a), keys.get(b)];
      if (x === null || y === null) return (x === null) - (y === null) || a - b;
      const order = typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x === y ? 0 : x - y;
      return sign * order || a - b;
    });
  };

  const append = (count) => {
    const rows = document.createDocumentFragment();
    for (const i of order.slice(made, made + count)) {
      const row = report.row(i);
      rows.append(make("tr", { "data-run": i }, ...columns().map(([name, show, , numeric]) => {
        const cell = make("td", { "data-name": name, class: numeric ? "n" : name === "status" && row.status === "error" ? "error" : null });
        cell.append(...show(row, i).filter((part) => part !== null && part !== ""));
        return cell;
      })));
    }
    body.append(rows);
    made = Math.min(order.length, made + count);
    document.getElementById("more").textContent = made < order.length ? `${order.length - made} more` : "";
  };

  const update = () => {
    order = sorted(wanted());
    made = 0;
    body.replaceChildren();
    append(BATCH);
    const all = report.data.columns.key.length;
    document.getElementById("count").textContent = order.length === all ? `${all} run${all === 1 ? "" : "s"}` : `${order.length} of ${all} runs`;
    for (const th of document.querySelectorAll("#table thead th")) {
      if (th.dataset.name !== sorting.name) th.removeAttribute("aria-sort");
      else th.setAttribute("aria-sort", sorting.down ? "descending" : "ascending");
    }
  };

  const sortBy = (name, down) => {
    sorting = { name, down: down ?? (sorting.name === name && !sorting.down) };
    update();
  };

  const options = (name, values) => form.elements[name].append(...values.map((value) => make("option", {}, value)));

  // The methods of the chosen system, or of all.
  const offerMethods = () => {
    const c = report.data.columns;
    const system = form.elements.system?.value;
    const own = c.method.filter((_, i) => !system || c.system[i] === system);
    const before = form.elements.method.value;
    form.elements.method.replaceChildren(make("option", { value: "" }, "all"));
    options("method", [...new Set(own)].sort());
    form.elements.method.value = own.includes(before) ? before : "";
  };

  const csv = () => {
    const c = report.data.columns;
    const names = Object.keys(c).filter((name) => name !== "picture");
    // A spreadsheet would run a text that begins like a formula; numbers stay what they are.
    const unrun = (x) => (typeof x === "string" && /^[=+\-@\t\r\n]/.test(x) ? `'${x}` : String(x));
    const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const cell = (x) => (x === null ? "" : quoted(unrun(x)));
    const lines = [names.join(","), ...order.map((i) => names.map((name) => cell(c[name][i])).join(","))];
    report.save(`${lines.join("\n")}\n`, "text/csv", "runs.csv");
  };

  report.startTable = () => {
    offerMethods();
    options("kind", [...new Set(report.data.columns.kind)].sort());
    form.elements.sort.append(make("option", { value: "" }, "as stored"), ...columns().flatMap(([name, , , numeric]) => (numeric
      ? [make("option", { value: `${name}|down` }, `${name}, largest first`), make("option", { value: name }, `${name}, smallest first`)]
      : [make("option", { value: name }, name)])));
    document.querySelector("#table thead tr").append(...columns().map(([name, , , numeric]) => make("th", { scope: "col", class: numeric ? "n" : null, "data-name": name },
      make("button", { type: "button", onclick: () => sortBy(name) }, name))));
    form.addEventListener("input", (event) => {
      if (event.target.name === "system") offerMethods();
      if (event.target.name === "sort") {
        const [name, down] = event.target.value.split("|");
        sortBy(name || null, down === "down");
      } else update();
    });
    form.addEventListener("reset", () => setTimeout(() => { offerMethods(); sortBy(null, false); }));
    document.getElementById("csv").addEventListener("click", csv);
    new IntersectionObserver(([entry]) => { if (entry.isIntersecting && made && made < order.length) append(BATCH); }, { rootMargin: "600px" })
      .observe(document.getElementById("more"));
    addEventListener("beforeprint", () => {
      if (made < PRINTED) append(PRINTED - made);
      if (made < order.length) document.getElementById("more").textContent = `and ${order.length - made} more: filter before printing, or save as CSV`;
    });
    update();
  };

  (async () => {
    report.data = await report.json("data");
    document.documentElement.classList.add("ready");
    report.startTable();
    report.startMethods();
    report.startFigures();
    report.startRuns();
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
  })().catch(report.failed);
})();
