import { connect, isIP } from 'node:net'
import type { Socket } from 'node:net'
import { refuseAddress } from '../lib/outbound/address-policy.js'
import type { AddressPolicy } from '../lib/outbound/address-policy.js'
import { makeCheckedLookup, resolveHost } from '../lib/outbound/checked-lookup.js'
import type { Secret } from '../lib/outbound/credentials.js'
import type { OutboundClient } from '../lib/outbound/outbound-client.js'
import { OutboundError } from '../lib/outbound/outbound-error.js'
import type { Attempt } from '../outbox/after-attempt.js'
import { answered } from '../outbox/sender.js'
import type { Channel } from '../outbox/sender.js'
import type { StoredMessage } from '../store/ports/outbox-store.js'
import type { MailMessage } from './render-message.js'

/** Where the messages of a channel go. */
export type Receiver =
  | { readonly type: 'mail'; readonly server: MailServer }
  | {
      readonly type: 'slack' | 'teams' | 'webhook'
      readonly url: string
      readonly headers: (message: StoredMessage, nowMs: number) => Readonly<Record<string, string>>
    }

interface NotificationChannelOptions {
  readonly receivers: ReadonlyMap<string, Receiver>
  readonly client: OutboundClient
  readonly policy: AddressPolicy
}

const MAX_RESPONSE_BYTES = 64 * 1024
/** Refusals that pass: timeout, conflict, too early, too many requests. */
const PASSING: readonly number[] = [408, 409, 425, 429]

/**
 * Makes the channel of notifications. A message contains the name of its channel, so that a URL or
 * password changed in the configuration also applies to messages that wait.
 */
export function makeNotificationChannel({ receivers, client, policy }: NotificationChannelOptions): Channel {
  return {
    send: async (message, { now, timeoutMs }) => {
      const name = message.url.slice(message.url.indexOf(':') + 1)
      const receiver = receivers.get(name)
      if (receiver === undefined) return failed(`no channel of notifications.channels is named ${name}`, true)
      if (receiver.type === 'mail')
        return await attemptMail(receiver.server, message, { id: message.webhookId, policy, timeoutMs })
      const response = await client.send({
        method: 'POST',
        url: receiver.url,
        headers: { 'content-type': 'application/json', ...receiver.headers(message, now()) },
        body: message.body,
        timeoutMs,
        maxResponseBytes: MAX_RESPONSE_BYTES,
      })
      const isFinal = receiver.type !== 'webhook' && isPermanent(response.status)
      return { ...answered(response, now()), isFinal }
    },
  }
}

/** Chat services answer these when the webhook was removed or the message is wrong. */
function isPermanent(status: number): boolean {
  return status >= 400 && status < 500 && !PASSING.includes(status)
}

async function attemptMail(
  server: MailServer,
  message: StoredMessage,
  options: Parameters<typeof sendMail>[2],
): Promise<Attempt> {
  try {
    await sendMail(server, JSON.parse(message.body) as MailMessage, options)
    return { type: 'answered', status: 250, retryAfterMs: undefined }
  } catch (raw) {
    if (raw instanceof MailError) return failed(raw.message, raw.isFinal)
    throw raw
  }
}

function failed(error: string, isFinal: boolean): Attempt {
  return { type: 'failed', error, isFinal }
}

/** An SMTP server and the sender of its mails. */
export interface MailServer {
  readonly host: string
  readonly port: number
  readonly encryption: 'starttls' | 'tls' | 'none'
  readonly user?: string | undefined
  readonly password: Secret | undefined
  readonly from: string
}

/** A refused or failed mail. `isFinal` is true for a permanent reply of the server (5yz). */
class MailError extends Error {
  readonly isFinal: boolean

  constructor(message: string, isFinal: boolean) {
    super(message)
    this.isFinal = isFinal
  }
}

/** Replies from here on are permanent (RFC 5321, 4.2.1). */
const PERMANENT = 500

/**
 * Sends a mail over a connection to a checked address. `id` identifies the mail, so that a mail that
 * is sent again has the same `Message-ID`. Throws a `MailError`, or an `OutboundError` for an address
 * that is not allowed.
 */
async function sendMail(
  server: MailServer,
  { to, subject, text }: MailMessage,
  {
    id,
    policy,
    timeoutMs,
  }: { readonly id: string; readonly policy: AddressPolicy; readonly timeoutMs: number },
): Promise<void> {
  const { host, port, encryption, user, password, from } = server
  const { createTransport } = await import('nodemailer')
  const socket = await openSocket(server, policy, timeoutMs)
  const timer = setTimeout(() => socket.destroy(new Error(`no reply within ${timeoutMs} ms`)), timeoutMs)
  const transport = createTransport({
    ...{ host, port, connection: socket },
    secure: encryption === 'tls',
    requireTLS: encryption === 'starttls',
    ignoreTLS: encryption === 'none',
    ...(user !== undefined && { auth: { user, pass: password?.reveal() ?? '' } }),
    ...{
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    },
  })
  try {
    await transport.sendMail({
      ...{ from, to, subject, text },
      messageId: `<${id}@${from.slice(from.indexOf('@') + 1)}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    })
  } catch (raw) {
    throw toMailError(raw, server)
  } finally {
    clearTimeout(timer)
    transport.close()
    socket.destroy()
  }
}

function openSocket({ host, port }: MailServer, policy: AddressPolicy, timeoutMs: number): Promise<Socket> {
  const refusal = isIP(host) === 0 ? undefined : refuseAddress(host, policy)
  if (refusal !== undefined)
    return Promise.reject(
      new OutboundError('target_refused', `the mail server ${host} is refused: it is ${refusal}`),
    )
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, lookup: makeCheckedLookup(policy, resolveHost) })
    const fail = (error: Error): void => {
      socket.destroy()
      reject(
        error instanceof OutboundError
          ? error
          : new MailError(`the mail server ${host}:${port} could not be reached: ${error.message}`, false),
      )
    }
    socket.setTimeout(timeoutMs, () => fail(new Error(`no connection within ${timeoutMs} ms`)))
    socket.once('error', fail)
    socket.once('connect', () => {
      socket.off('error', fail)
      // An error before the first command ends the next one with a reason of its own.
      socket.on('error', () => undefined)
      socket.setTimeout(0)
      resolve(socket)
    })
  })
}

/** The reply of a server can contain anything, and the password if it repeats the command. */
function toMailError(raw: unknown, { host, port, password }: MailServer): MailError {
  const error = raw instanceof Error ? raw : new Error(String(raw))
  const code =
    'responseCode' in error && typeof error.responseCode === 'number' ? error.responseCode : undefined
  const secret = password?.reveal() ?? ''
  const message = secret === '' ? error.message : error.message.replaceAll(secret, '…')
  return new MailError(
    `the mail server ${host}:${port} did not accept the mail: ${message}`,
    code !== undefined && code >= PERMANENT,
  )
}
