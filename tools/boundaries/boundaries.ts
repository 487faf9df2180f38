/** `npm run check -- --only boundaries`: enforces the import rules of docs/architecture.md. */

import { checkBoundaries } from './boundary-check.ts'
import { findCircles } from './import-circles.ts'
import { reportFindings } from '../repository/findings.ts'
import { readFiles } from '../repository/repository-files.ts'

const files = readFiles((path) => path.endsWith('.ts'))
const packages = files.filter(({ path }) => path.startsWith('packages/'))
reportFindings(
  [...packages.flatMap(checkBoundaries), ...findCircles(files)],
  `${packages.length} source files respect the import boundaries; no circle among ${files.length} files`,
)
