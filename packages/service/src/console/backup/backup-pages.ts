import { html } from '@agent-exchange/web'
import { get, type ConsoleCall, type ConsolePage } from '../console-page.ts'
import { commandLine } from '../console-parts.ts'

export const backupPages: readonly ConsolePage[] = [get('/backup', explain)]

/** A backup is made beside the service, on the machine of the database, so this page can only say how. */
async function explain({ show }: ConsoleCall) {
  const main = html`<p class="lead">
      Backups are made on the machine of the database, while the service runs. The service does not know of
      them.
    </p>
    <h2>With the embedded database</h2>
    <p>Run this as the user of the service, with its settings:</p>
    ${commandLine('aex backup FOLDER')}
    <p>
      The master key is included only with <code>--with-keys</code>. Otherwise keep a copy of
      <code>AEX_DATA_DIR/master-key</code> elsewhere: without it nobody can use the backup.
    </p>
    <p>Prove that a backup can be restored. The running exchange is not touched:</p>
    ${commandLine('aex backup verify FOLDER')}
    <h2>With your own PostgreSQL</h2>
    <p>
      Back up that server with its own tools, such as <code>pg_basebackup</code> and archived WAL, and keep
      <code>AEX_MASTER_KEY</code> with the same care.
    </p>
    <h2>Restore</h2>
    <p>Stop the service first. The database that is there is moved aside, not deleted:</p>
    ${commandLine('aex restore --force FOLDER')}
    <p>
      A restored database is older than the transparency log that was published. The
      <a href="/log">log</a> then refuses to sign until its tail is recovered from a copy.
    </p>`
  return show({ title: 'Backup', main })
}
