import { createTransport } from 'nodemailer'

export interface Mail {
  readonly to: string | readonly string[]
  readonly subject: string
  /** Plain text. */
  readonly text: string
}

/** Together less than the lease of a mail. */
const CONNECT_LIMIT_MS = 15_000
const SOCKET_LIMIT_MS = 30_000
const SEND_LIMIT_MS = 120_000

export interface MailTransport extends Disposable {
  send(mail: Mail): Promise<void>
}

/** Sends by SMTP; a connection for each mail, since there are few. */
export function mailTransport({ url, from }: { readonly url: string; readonly from: string }): MailTransport {
  const transport = createTransport({
    url,
    connectionTimeout: CONNECT_LIMIT_MS,
    greetingTimeout: CONNECT_LIMIT_MS,
    socketTimeout: SOCKET_LIMIT_MS,
    // Text only: nothing that an alert names may make us read a file or fetch an address.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async send({ to, subject, text }) {
      const limit = AbortSignal.timeout(SEND_LIMIT_MS)
      const tooLong = new Promise<never>((_resolve, reject) => {
        limit.addEventListener('abort', () => reject(new Error('the mail server took too long')), {
          once: true,
        })
      })
      const recipients = (typeof to === 'string' ? [to] : to).map((address) => ({ name: '', address }))
      const headers = { 'Auto-Submitted': 'auto-generated' }
      await Promise.race([transport.sendMail({ from, to: recipients, subject, text, headers }), tooLong])
    },
    [Symbol.dispose]: () => transport.close(),
  }
}
