/** `npm run check -- --only table-owners`: exactly one file writes each table of the service. */

import { reportFindings } from '../repository/findings.ts'
import { isTest, readFiles } from '../repository/repository-files.ts'
import { checkTableOwners } from './table-owner-check.ts'

const SCHEMA = 'packages/service/schema.txt'

const isSource = (path: string) =>
  /^packages\/(?:service|database)\/src\/.*\.ts$/u.test(path) && !isTest(path)

const [schema] = readFiles((path) => path === SCHEMA)
if (!schema) throw new Error(`${SCHEMA} is missing: run npm run schema`)
const { owners, findings } = checkTableOwners(schema, readFiles(isSource))
reportFindings(findings, `${owners.size} tables have one owner file each`)
