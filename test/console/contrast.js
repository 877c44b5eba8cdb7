// Evaluated in a page: every text whose contrast with what is behind it is below WCAG's AA, and every control without a name.
(() => {
  const parts = (color) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const light = ([red, green, blue]) => {
    const [r, g, b] = [red, green, blue].map((part) => {
      const value = part / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const over = (front, back) => {
    const alpha = front[3] ?? 1;
    return [0, 1, 2].map((at) => front[at] * alpha + back[at] * (1 - alpha));
  };
  const behind = (element) => {
    const layers = [];
    for (let each = element; each; each = each.parentElement)
      layers.push(parts(getComputedStyle(each).backgroundColor));
    const canvas = matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0] : [255, 255, 255];
    return layers.reverse().reduce((back, layer) => over(layer, back), canvas);
  };
  const isSeen = (element) =>
    element.checkVisibility() && !element.closest(".heard, .skip, [aria-hidden=true], thead .acts");
  const faint = [...document.querySelectorAll("body *")].flatMap((element) => {
    const texts = [...element.childNodes].filter(
      (node) => node.nodeType === 3 && node.textContent.trim() !== "",
    );
    if (texts.length === 0 || !isSeen(element)) return [];
    const style = getComputedStyle(element);
    const isSvg = element.namespaceURI.endsWith("svg");
    const back = behind(element);
    const front = over(parts(isSvg ? style.fill : style.color), back);
    const [more, less] = [light(front), light(back)].sort((a, b) => b - a);
    const ratio = (more + 0.05) / (less + 0.05);
    const isLarge = Number.parseFloat(style.fontSize) >= 24;
    return ratio >= (isLarge ? 3 : 4.5)
      ? []
      : [`${ratio.toFixed(2)}: ${element.textContent.trim().slice(0, 40)}`];
  });
  const nameless = [...document.querySelectorAll("input, select, button, a, meter")]
    .filter(isSeen)
    .filter(
      (control) => !(control.labels?.length > 0 || control.ariaLabel || control.textContent.trim() !== ""),
    )
    .map((control) => control.outerHTML.slice(0, 80));
  return { faint, nameless };
})();
