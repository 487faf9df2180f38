/** `npm run check -- --only hygiene`: nothing machine-bound, unfinished, disabled or unpinned is left in a file. */

import { reportFindings } from '../repository/findings.ts'
import { checkHygiene } from './hygiene-check.ts'
import { readFiles } from '../repository/repository-files.ts'

const files = readFiles(() => true)
reportFindings(files.flatMap(checkHygiene), `${files.length} files are clean`)
