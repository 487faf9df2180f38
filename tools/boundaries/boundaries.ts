/** `npm run check -- --only boundaries`: no import crosses a line that docs/architecture.md draws. */

import { checkBoundaries } from './boundary-check.ts'
import { reportFindings } from '../repository/findings.ts'
import { readFiles } from '../repository/repository-files.ts'

const files = readFiles((path) => path.startsWith('packages/') && path.endsWith('.ts'))
reportFindings(files.flatMap(checkBoundaries), `${files.length} source files keep to their boundaries`)
