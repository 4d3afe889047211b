// @ts-check
// Environments whose states share cells: which of them the map shows, and the environment's own picture of one.
import { h } from "./dom.js";
import { showHighest } from "./world.js";

export const sliceMethods = {
  showSlices() {
    const { world } = this;
    const { slices } = this.ui;
    slices.hidden = !world.slices?.length;
    const choose = (index, select) => {
      world.shownSlices[index] = Number(select.value);
      this.showSlice();
    };
    slices.replaceChildren(h("span", {}, "Show states with"), ...(world.slices ?? []).map(({ name, values }, index) => {
      const select = h("select", { "aria-label": name, onchange: () => choose(index, select) },
        h("option", { value: "-1" }, "any"), ...values.map((value, number) => h("option", { value: String(number) }, value)));
      select.value = String(world.shownSlices[index]);
      return h("label", {}, `${name} `, select);
    }));
    this.ui.options.picture.hidden = true;
    if (world.env) this.askPicture(world.first);
  },

  showSlice() {
    const values = this.base.values ?? new Float32Array(this.world.n);
    showHighest(this.world, values);
    for (const select of this.ui.slices.querySelectorAll("select")) select.disabled = this.world.whole;
    this.showAfar();
    for (const field of this.fields()) field.touchAll();
    this.drawAll();
  },

  askPicture(state) {
    if (!this.world.env) return;
    this.ask({ do: "picture", channel: "picture", state }).then((answer) => {
      if (answer.version === this.applied) this.showPicture(state, answer);
    }, (error) => {
      // Most environments outside Gymnasium's own have no picture of a state that they are not in.
      if (error.name === "Offline") this.failed(error);
      this.ui.options.picture.hidden = true;
    });
  },

  showPicture(state, { rows, cols, pixels }) {
    const { picture, shot } = this.ui.options;
    [shot.width, shot.height] = [cols, rows];
    const image = new ImageData(cols, rows);
    for (let at = 0; at < rows * cols; at++) image.data.set([pixels[3 * at], pixels[3 * at + 1], pixels[3 * at + 2], 255], 4 * at);
    shot.getContext("2d").putImageData(image, 0, 0);
    const said = `${this.world.name} in state ${state}, as it draws itself. Click a cell for another.`;
    shot.setAttribute("aria-label", said);
    picture.lastChild.textContent = said;
    picture.hidden = false;
  },
};
