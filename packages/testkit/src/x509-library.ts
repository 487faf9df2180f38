// The library needs the reflection API in place before it loads.
// oxlint-disable-next-line import/no-unassigned-import
import 'reflect-metadata'

export * from '@peculiar/x509'
