/** `npm run check -- --only boundaries`: enforces the import rules of docs/architecture.md. */

import { checkBoundaries } from './boundary-check.ts'
import { reportFindings } from '../repository/findings.ts'
import { readFiles } from '../repository/repository-files.ts'

const files = readFiles((path) => path.startsWith('packages/') && path.endsWith('.ts'))
reportFindings(files.flatMap(checkBoundaries), `${files.length} source files respect the import boundaries`)
