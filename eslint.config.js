// Rules for the Studio's page, which is plain JavaScript without a build step: `npm run lint`.
import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    files: ["src/farpoint/studio/web/*.js"],
    languageOptions: { ecmaVersion: 2024, sourceType: "module", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "array-callback-return": "error", "default-param-last": "error", eqeqeq: "error", "no-constructor-return": "error",
      "no-else-return": "error", "no-eval": "error", "no-implied-eval": "error", "no-promise-executor-return": "off", "no-self-compare": "error",
      "no-shadow": "error", "no-unused-expressions": ["error", { allowShortCircuit: true }], "no-use-before-define": ["error", { functions: false, classes: false, variables: false }],
      "no-useless-return": "error", "object-shorthand": "error", "prefer-const": ["error", { destructuring: "all" }], "prefer-template": "error",
    },
  },
];
