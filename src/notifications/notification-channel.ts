import type { AddressPolicy } from '../lib/outbound/address-policy.js'
import type { OutboundClient } from '../lib/outbound/outbound-client.js'
import type { Attempt } from '../outbox/after-attempt.js'
import { answered } from '../outbox/sender.js'
import type { Channel } from '../outbox/sender.js'
import type { StoredMessage } from '../store/ports/outbox-store.js'
import type { MailMessage } from './render-message.js'
import { MailError, sendMail } from './send-mail.js'
import type { MailServer } from './send-mail.js'

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
