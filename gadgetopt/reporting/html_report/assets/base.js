"use strict";
// What the other scripts share: unpacking, making elements, writing numbers, colours.
const report = {};

(() => {
  // Text that was packed as gzip in base64, from the script element of that id.
  report.unpack = async (id) => {
    const binary = atob(document.getElementById(id).textContent);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  };

  // Each id is unpacked once, however often it is asked for.
  const unpacked = new Map();
  report.json = (id) => {
    if (!unpacked.has(id)) unpacked.set(id, report.unpack(id).then(JSON.parse));
    return unpacked.get(id);
  };

  report.make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  };

  // A name, as pieces between which a line may break.
  report.breakable = (name) => name.split(/(?<=[_:])/).flatMap((piece, k) => (k ? [report.make("wbr"), piece] : [piece]));

  report.number = (x) => {
    if (x === null || x === undefined) return "";
    if (Number.isInteger(x) && Math.abs(x) < 1e15) return String(x);
    return String(Number(x.toPrecision(6)));
  };

  // In percent; beyond a million the incumbent is next to 0.
  report.gap = (x, digits) => (x === null ? "" : x > 1e4 ? "∞" : `${(100 * x).toFixed(digits)} %`);

  report.seconds = (t) => (t < 0.1 ? `${(1000 * t).toFixed(1)} ms` : t < 100 ? `${t.toFixed(2)} s` : `${t.toFixed(0)} s`);

  // An end of a ratio is a number, "∞", or null where nothing is known.
  const end = (x) => (x === "∞" ? x : x < 1000 ? x.toFixed(3) : String(Number(x.toPrecision(4))));
  report.ratio = (low, high) => {
    if (low === null) return high === null ? "" : `≤ ${end(high)}`;
    if (low === "∞") return low;
    if (high === null) return `≥ ${end(low)}`;
    return end(low) === end(high) ? end(low) : `${end(low)} – ${end(high)}`;
  };

  // What a theorem promises; beyond the limit it says nothing.
  report.theorem = (x) => (x > report.data.vacuous ? `> ${report.data.vacuous} (vacuous)` : report.number(x));

  report.save = (text, type, name) => {
    const url = URL.createObjectURL(new Blob([text], { type }));
    report.make("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  };

  report.value = (x) => (x === "∞" ? Infinity : x);

  report.row = (i) => {
    const row = {};
    for (const [name, values] of Object.entries(report.data.columns)) row[name] = values[i];
    return row;
  };

  // Colours of the figures; the page's own are in the style sheet.
  const colours = {
    light: { ink: "#1d1f21", soft: "#5b6066", rule: "#e4e4df", card: "#ffffff" },
    dark: { ink: "#e6e6e2", soft: "#a4a9ae", rule: "#33373b", card: "#1d2023" },
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  report.theme = () => document.documentElement.dataset.theme || (dark.matches ? "dark" : "light");
  report.colours = (theme) => colours[theme || report.theme()];

  const changed = () => document.dispatchEvent(new Event("theme"));
  dark.addEventListener("change", changed);
  const button = document.getElementById("theme");
  const next = { automatic: "light", light: "dark", dark: "automatic" };
  button.hidden = false;
  button.addEventListener("click", () => {
    const theme = next[document.documentElement.dataset.theme || "automatic"];
    if (theme === "automatic") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `Colours: ${theme}`;
    changed();
  });

  report.failed = (error) => {
    const said = "DecompressionStream" in window ? `This page's scripts failed: ${error.message}` : "Figures and the table of runs need a browser of 2023 or later. The tables of methods are complete.";
    document.querySelector("header").append(report.make("p", { class: "alarm", role: "alert" }, said));
    document.querySelectorAll(".wait").forEach((element) => element.remove());
    throw error;
  };
})();
