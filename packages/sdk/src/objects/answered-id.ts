import type { ProtocolObject } from '@agent-exchange/protocol'

/** A response_object refers to what it answers by an id with this prefix. */
const PREFIX = 'pkg_'

export const isAnswerable = (id: string) => id.startsWith(PREFIX)

/**
 * PKG-09: how a response_object names what it answers. A package may have any id; the object inside has one of the
 * protocol. Where neither has the prefix that the protocol demands there, it is put before the id of the package.
 */
export function answerableId(packageId: string, objectId?: string): string {
  if (objectId !== undefined && isAnswerable(objectId)) return objectId
  return isAnswerable(packageId) ? packageId : `${PREFIX}${packageId}`
}

/**
 * PKG-09: a response names the package in its metadata, or the object inside that package. That one is looked up only
 * where the ids differ, and where it cannot be opened the signed metadata count.
 */
export async function answerDifferences(
  object: ProtocolObject,
  answered: string | undefined,
  readObjectId: (packageId: string) => Promise<string | undefined>,
): Promise<string[]> {
  if (object.object_type !== 'response_object') return []
  const { responds_to_package_id: named } = object
  if (answered === undefined) return ['/responds_to_package_id']
  if (namesPackage(named, answered)) return []
  const objectId = await readObjectId(answered)
  return objectId === undefined || objectId === named ? [] : ['/responds_to_package_id']
}

/** Whether a response names the package itself. Otherwise it names the object inside. */
function namesPackage(respondsTo: string, packageId: string): boolean {
  return respondsTo === packageId || respondsTo === answerableId(packageId)
}
