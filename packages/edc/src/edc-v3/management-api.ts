/** Reads and writes the JSON-LD of EDC's management API v3, for programs that simulate a connector. */
export * from './json-ld-reader.ts'
export { problemText } from './problem-text.ts'
export * from './vocabulary.ts'
