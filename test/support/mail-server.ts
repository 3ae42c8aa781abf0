import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import type { SMTPServerOptions } from 'smtp-server'

/** A mail as the server got it. */
export interface ReceivedMail {
  readonly recipients: readonly string[]
  /** Headers and text (RFC 5322). */
  readonly source: string
  readonly isEncrypted: boolean
}

export interface MailReceiver {
  readonly port: number
  readonly received: readonly ReceivedMail[]
  readonly close: () => Promise<void>
}

/** An error that the server answers with this reply code. */
export function smtpReply(code: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode: code })
}

/** Starts a real SMTP server on loopback without sign-in. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailReceiver> {
  const received: ReceivedMail[] = []
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    ...options,
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        received.push({
          recipients: session.envelope.rcptTo.map(({ address }) => address),
          source: Buffer.concat(chunks).toString(),
          isEncrypted: session.secure,
        })
        callback(null)
      })
    },
  })
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
