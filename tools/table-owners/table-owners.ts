/** `npm run check -- --only table-owners`: exactly one file writes each table of the service, and of the gateway. */

import { reportFindings } from '../repository/findings.ts'
import { isTest, readFiles } from '../repository/repository-files.ts'
import { checkTableOwners } from './table-owner-check.ts'

const checks = ['service', 'gateway'].map((name) => {
  const path = `packages/${name}/schema.txt`
  const [schema] = readFiles((each) => each === path)
  if (!schema) throw new Error(`${path} is missing: run npm run generate -- schema`)
  const sources = new RegExp(`^packages/(?:${name}|database)/src/.*\\.ts$`, 'u')
  return checkTableOwners(
    schema,
    readFiles((each) => sources.test(each) && !isTest(each)),
  )
})
const tables = checks.reduce((sum, { owners }) => sum + owners.size, 0)
reportFindings(
  checks.flatMap(({ findings }) => findings),
  `${tables} tables have one owner file each`,
)
