/**
 * The transparency log: Merkle proofs, tiles, signed checkpoints, leaves. Nothing here does I/O, reads the clock or
 * needs Node, so the package runs in a browser as well.
 *
 * @packageDocumentation
 */

export { LOG_ERROR_CODES, LogError, type LogErrorCode } from './errors.ts'

// Merkle tree (RFC 9162)
export { verifyConsistency, type ConsistencyClaim } from './merkle/consistency.ts'
export { verifyInclusion, type InclusionClaim } from './merkle/inclusion.ts'
export { EMPTY_ROOT, leafHash, nodeHash } from './merkle/tree-hash.ts'

// Tiles (C2SP tlog-tiles)
export {
  appendLeaves,
  edgeRoot,
  edgeTiles,
  EMPTY_EDGE,
  readEdge,
  type Appended,
  type TreeEdge,
} from './tiles/append-leaves.ts'
export { decodeBundle, encodeBundle, MAXIMUM_ENTRY_BYTES } from './tiles/entry-bundle.ts'
export { proveConsistency, proveInclusion, rootFromTiles, tilesForInclusion } from './tiles/prove.ts'
export {
  parseTilePath,
  TILE_WIDTH,
  tilePath,
  tileWidth,
  type ReadTile,
  type Tile,
  type TileName,
} from './tiles/tile.ts'

// Signed notes, checkpoints, witnesses and policies (C2SP)
export {
  formatCheckpoint,
  openCheckpoint,
  parseCheckpoint,
  type Checkpoint,
  type OpenedCheckpoint,
} from './notes/checkpoint.ts'
export {
  MAXIMUM_NOTE_BYTES,
  MAXIMUM_SIGNATURES,
  parseNote,
  parseSignatureLine,
  withSignatures,
  type Note,
  type NoteSignature,
} from './notes/note.ts'
export {
  parsePolicy,
  type LogPolicy,
  type PolicyGroup,
  type PolicyLog,
  type PolicyWitness,
  type QuorumMember,
} from './notes/policy.ts'
export { formatPolicy, logKeyFingerprint, type PolicyTerms } from './notes/format-policy.ts'
export { evaluateQuorum, witnessesUnder, type Cosignature, type Witnessing } from './notes/quorum.ts'
export {
  cosignNote,
  formatSignerKey,
  noteSigner,
  parseSignerKey,
  signNote,
  type NoteSigner,
} from './notes/sign-note.ts'
export { formatProof, MAXIMUM_PROOF_HASHES, parseProof, type TlogProof } from './notes/tlog-proof.ts'
export {
  isSameKey,
  formatVerifierKey,
  parseVerifierKey,
  SIGNATURE_TYPE,
  verifierKey,
  type SignatureType,
  type VerifierKey,
} from './notes/verifier-key.ts'
export { verifyNote, type VerifiedSignature } from './notes/verify-note.ts'
export {
  formatWitnessRequest,
  MAXIMUM_WITNESS_REQUEST_BYTES,
  parseWitnessRequest,
  type WitnessRequest,
} from './notes/witness-request.ts'

// Leaves (docs/transparency-format.md)
export { keyCommitment, keyLabel, keyLeaf, type KeyEvent, type KeyEventSubject } from './leaf/key-leaf.ts'
export { originLeaf } from './leaf/origin-leaf.ts'
export { LABEL_LENGTH, LEAF_LENGTH } from './leaf/leaf-encoding.ts'
export {
  recordCommitment,
  recordLabel,
  recordLeaf,
  type RecordContent,
  type RecordSubject,
} from './leaf/record-leaf.ts'
export { BATCH_SECRET_LENGTH, deriveSalt, SALT_LENGTH } from './leaf/salt.ts'

// The chain of a package and its records (version 2, docs/transparency-format.md)
export {
  chainRecordCommitment,
  chainRecordLabel,
  chainRecordLeaf,
  type ChainRecordContent,
} from './leaf/chain-record-leaf.ts'
export { ONE_SIDED_KINDS, visibilityOf, type Visibility } from './leaf/one-sided-kinds.ts'
export {
  bodyHash,
  chainStart,
  entryBody,
  nextLink,
  type ChainedEntry,
  type ChainSubject,
  type EntryContent,
} from './leaf/package-chain.ts'
export type { PackageIdentity } from './leaf/package-identity.ts'

// Evidence (version 1 of a capsule)
export { differingMembers } from './evidence/differing-members.ts'
export {
  EVIDENCE_FORMAT,
  isThreadEntry,
  MAXIMUM_PACKAGES,
  type EvidenceBundle,
  type KeyRecord,
  type PackageRecord,
  type ThreadEntry,
  type UnlinkedEntry,
} from './evidence/evidence-bundle.ts'
export type { EvidenceReport, ProvedState } from './evidence/evidence-report.ts'
export { policyDigest } from './evidence/policy-digest.ts'
export type { ChainAnchor } from './evidence/verify-chain.ts'
export { verifyEvidence, type VerifyEvidenceOptions } from './evidence/verify-evidence.ts'
export { packageOfEnvelope, policyIn } from './evidence/verifier-input.ts'

// Capsules (version 2)
export {
  CAPSULE_FORMAT,
  DEFAULT_CAPSULE_BYTES,
  MAXIMUM_CAPSULE_BYTES,
  type Capsule,
  type CapsuleLog,
  MAXIMUM_HISTORY,
  type EarlierCheckpoint,
  type KeyEventProof,
  type RecordProof,
} from './capsule/capsule-format.ts'
// Capsules of format 3: the chains of packages
export {
  CAPSULE_V3_FORMAT,
  isHidden,
  type CapsuleKey,
  type CapsulePackage,
  type CapsuleRecord,
  type CapsuleV3,
  type EntryProof,
  type HiddenEntry,
  type ShownEntry,
} from './capsule/capsule-v3-format.ts'
export { chainLinks, identityOf, type ShownChain } from './capsule/follow-chain.ts'
export { placeLeaf, type Placed, type VerifiedTree } from './capsule/place-leaf.ts'
export { verifyChains, type VerifiedChains } from './capsule/verify-chains.ts'
export type { BoundKey, LoggedEvent } from './capsule/verify-shown-keys.ts'
export type { EntryLeaves } from './capsule/verify-chain-records.ts'
export { capsuleV3Faults, isPackageHead } from './capsule/capsule-v3-shape.ts'
export { DISCLOSURE_TYPE, signDisclosure, type Disclosure } from './capsule/disclosure.ts'
export { PACKAGE_HEAD_TYPE, verifyPackageHead, type PackageHead } from './capsule/package-head.ts'

// What a verification says, as data
export {
  CHECK_CODES,
  LOWERING_CODES,
  SIGNATURE_CODES,
  CLAIM_CODES,
  type CheckCode,
  type ClaimCode,
} from './verdict/check-codes.ts'
export type { About, Check, CheckResult, CheckValues, ExchangeClaim } from './verdict/check.ts'
export { FAULT_CODES, type FaultCode } from './verdict/fault-codes.ts'
export {
  CAPSULE_LEVELS,
  VERDICT_WORDS,
  type CapsuleLevel,
  type CapsuleResult,
  type CheckpointStory,
  type Fingerprint,
  type KeyStory,
  type PackageStory,
  type Party,
  type ShownKeyEvents,
  type SignedStatement,
  type TimeBounds,
  type VerdictWord,
} from './capsule/capsule-result.ts'
export { leafOfShownEvent } from './capsule/shown-key-event.ts'
export { verifyCapsule, verifyCapsuleFile, type VerifyCapsuleOptions } from './capsule/verify-capsule.ts'

// The same in words
export { CHECK_SENTENCES, type CheckSentences } from './render/check-sentences.ts'
export { checkDetail, checkText, placedText, claimText } from './render/check-text.ts'
export { FAULT_SENTENCES, KEY_SENTENCES, CLAIM_SENTENCES } from './render/fault-sentences.ts'
export {
  addressBookFault,
  MAXIMUM_NAMES,
  nameFault,
  readerWith,
  type AddressBook,
} from './render/address-book.ts'
export type { Reader } from './render/reader.ts'
export { renderCapsuleHtml, type RenderHtmlOptions } from './render/render-html.ts'
export { renderCapsuleText } from './render/render-text.ts'
export { verdictSentence } from './render/verdict-sentence.ts'
export {
  describeVerdict,
  type ReportRow,
  type ReportSection,
  type VerdictReport,
} from './render/verdict-report.ts'
export { visibleText } from './render/visible-text.ts'

// Split views: two signed checkpoints that exclude each other
export {
  MAXIMUM_SPLIT_VIEW_BYTES,
  SPLIT_VIEW_FORMAT,
  verifySplitView,
  verifySplitViewFile,
  type SplitView,
  type SplitViewResult,
} from './split-view/split-view.ts'
export { compareViews, type CompareOptions, type ViewComparison } from './split-view/compare-views.ts'
export { keysIn, readLogView, type LogView } from './split-view/log-view.ts'

// The rules of a witness (C2SP tlog-witness)
export {
  openWitnessRequest,
  refuseCheckpoint,
  type WitnessedRequest,
  type WitnessRefusal,
} from './witness/consider-checkpoint.ts'
