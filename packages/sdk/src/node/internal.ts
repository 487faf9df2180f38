/**
 * What the CLI, the desk and the MCP server need of an agent's folder beyond the public entry. It promises nothing: names come and
 * go between releases.
 *
 * @packageDocumentation
 */

export { adoptAgentFolder, openAgentFolder } from './agent-folder.ts'
export {
  readAddressBook,
  readAgentDefaults,
  readAgentTrust,
  setAgentDefaults,
  setAgentTrust,
  setOrganizationName,
} from './agent-settings.ts'
export { approveDraft, approverOf, initApprover, replaceApprover, resetApprover } from './approve-draft.ts'
export type { Approver } from '../drafts/approval.ts'
export { publishDeskAddress, readDeskAddress } from './desk-address.ts'
export type { InboxContents } from './inbox-contents.ts'
export { moveFolder, type FolderContents } from './move-folder.ts'
export { readMonitorState, writeMonitorState } from './file-monitor-state.ts'
export { readPending } from './pending.ts'
