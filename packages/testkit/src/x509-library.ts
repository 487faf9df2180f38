// The library requires reflect-metadata to be loaded first.
// oxlint-disable-next-line import/no-unassigned-import
import 'reflect-metadata'

export * from '@peculiar/x509'
