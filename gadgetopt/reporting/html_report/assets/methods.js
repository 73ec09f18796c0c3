// The tables of methods: grouped by a column of the instances, and as LaTeX.
(() => {
  const WORDS = {
    "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}", ">": "\\textgreater{}",
    "≤": "$\\le$", "≥": "$\\ge$", "–": "--", "∞": "$\\infty$", "✕": "", "θ": "$\\theta$",
  };
  const escaped = (text) => text.trim().replace(/[\\~^<>≤≥–∞✕θ&%$#_{}]/g, (c) => WORDS[c] ?? `\\${c}`).trim();

  const shown = (system) => [...document.querySelectorAll("table.methods")].find((table) => table.dataset.system === system && !table.hidden);

  const latex = (table) => {
    const head = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
    const numeric = [...table.tHead.rows[0].cells].map((cell) => cell.classList.contains("n"));
    const rows = [...table.tBodies[0].rows].flatMap((row) => [
      ...(row.classList.contains("next") ? ["\\midrule"] : []),
      `${[...row.cells].map((cell) => escaped(cell.textContent)).join(" & ")} \\\\`,
    ]);
    return ["% \\usepackage{booktabs,graphicx}", "\\resizebox{\\textwidth}{!}{%", `\\begin{tabular}{${numeric.map((n) => (n ? "r" : "l")).join("")}}`, "\\toprule",
      `${head.map(escaped).join(" & ")} \\\\`, "\\midrule", ...rows, "\\bottomrule", "\\end{tabular}}", ""].join("\n");
  };

  report.startMethods = () => {
    document.querySelectorAll("select.group").forEach((select) => select.addEventListener("change", () => {
      [...document.querySelectorAll("table.methods")].filter((table) => table.dataset.system === select.dataset.system)
        .forEach((table, k) => { table.hidden = k !== Number(select.value); });
    }));
    document.querySelectorAll("button.tex").forEach((button) => button.addEventListener("click", () => {
      const table = shown(button.dataset.system);
      const by = table.dataset.group ? `-by-${table.dataset.group.replace(/\W+/g, "_")}` : "";
      report.save(latex(table), "text/x-tex", `${button.dataset.system}-methods${by}.tex`);
    }));
  };
})();
