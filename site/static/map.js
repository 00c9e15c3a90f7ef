// Hovering over a unit of the map, or focus on it, says what it is about and marks what it needs.
document.addEventListener("DOMContentLoaded", () => {
  const map = document.querySelector(".course-map");
  const said = document.querySelector(".map-about");
  if (!map || !said) return;
  const first = said.textContent;
  const show = (box) => {
    const key = box ? box.dataset.key : "";
    const needs = box ? box.dataset.needs.split(" ") : [];
    said.textContent = box ? `${key}. ${box.dataset.about}` : first;
    map.querySelectorAll("[data-key]").forEach((other) => {
      other.classList.toggle("map-needed", needs.includes(other.dataset.key));
    });
    map.querySelectorAll("[data-between]").forEach((arrow) => {
      arrow.classList.toggle("map-on", key !== "" && arrow.dataset.between.split(" ").includes(key));
    });
  };
  map.querySelectorAll("a[data-key]").forEach((box) => {
    box.addEventListener("mouseenter", () => show(box));
    box.addEventListener("focus", () => show(box));
    box.addEventListener("mouseleave", () => show(null));
    box.addEventListener("blur", () => show(null));
  });
});
