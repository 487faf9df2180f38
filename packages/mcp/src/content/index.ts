/** What drafts and packages look like to a program, without the server of the Model Context Protocol. */

export { draftObject, FILLED_MEMBERS } from './draft-object.ts'
export { requireShowable, withBoundaries, type ShownPackage } from './opened-package.ts'
export { toShownDraft } from './shown-draft.ts'
export { NOTICE } from './untrusted.ts'
export { ToolRefusal } from '../server/tool-failure.ts'
