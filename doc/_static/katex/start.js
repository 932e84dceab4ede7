// Render what Sphinx left between \( \) and \[ \]; everything needed lies beside this file.
(() => {
  const here = document.currentScript.src.replace(/start\.js.*$/, "");
  const load = (name) =>
    new Promise((done) => {
      const script = document.createElement("script");
      script.src = here + name;
      script.onload = done;
      document.head.append(script);
    });
  const delimiters = [
    { left: "\\[", right: "\\]", display: true },
    { left: "\\(", right: "\\)", display: false },
  ];
  load("katex.min.js")
    .then(() => load("auto-render.min.js"))
    .then(() =>
      document
        .querySelectorAll(".math")
        .forEach((formula) => renderMathInElement(formula, { delimiters, throwOnError: false })),
    );
})();
