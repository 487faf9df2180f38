import type { Read } from '../../kernel/call.ts'
import { Problem } from '../../kernel/problem.ts'
import { toPackageResource } from './package-resource.ts'
import { findPackageOfParty } from './store.ts'

/** PKG-07: metadata and state, for the parties. */
export const getPackage: Read<'getPackage'> = async ({ caller, params, context }, db) => {
  const row = await findPackageOfParty(db, params.package_id, caller.organizationId)
  if (!row) throw new Problem('resource_not_found')
  return toPackageResource(row, context, caller.organizationId)
}
