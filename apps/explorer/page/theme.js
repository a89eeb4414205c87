// Before anything is drawn: light or dark, as was chosen here before, or as the system has it.

const theme = {
  names: ["system", "light", "dark"],
  dark: matchMedia("(prefers-color-scheme: dark)"),
  get chosen() {
    try {
      const said = localStorage.getItem("theme");
      return this.names.includes(said) ? said : "system";
    } catch {
      return "system"; // storage is switched off
    }
  },
  choose(name) {
    try {
      localStorage.setItem("theme", name);
    } catch {
      // then it is forgotten with the page
    }
    this.apply(name);
  },
  apply(name) {
    const dark = name === "dark" || (name === "system" && this.dark.matches);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
  },
};
theme.apply(theme.chosen);
window.theme = theme;
