export { DeskPortUnusable, startDesk, type Desk, type DeskOptions } from './desk-server.ts'
