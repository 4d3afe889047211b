// The component that NiceGUI puts on the page; everything else is plain JavaScript.
import { start } from "farpoint-studio";

export default {
  template: `<div></div>`,
  props: { settings: Object },
  mounted() {
    this.stop = start(this.$el, this.settings);
  },
  unmounted() {
    this.stop?.();
  },
};
