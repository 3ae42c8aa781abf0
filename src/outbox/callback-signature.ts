import { Webhook } from 'standardwebhooks'
import { AppError } from '../errors/app-error.js'
import type { StoredMessage } from '../store/ports/outbox-store.js'

const MS_PER_SECOND = 1000

/**
 * Makes the identifying and signing headers of a callback: `webhook-id`, `webhook-timestamp` in
 * seconds, and `webhook-signature` (Standard Webhooks, "Signature scheme", symmetric). The
 * timestamp is the attempt's, the id the message's. Raises `invalid` with `key`, the name of the
 * secret, unless it is base64, with or without the prefix `whsec_`.
 */
export function makeCallbackSigner(
  secret: string,
  key = 'callbacks.secret',
): (message: StoredMessage, nowMs: number) => Readonly<Record<string, string>> {
  const webhook = openWebhook(secret, key)
  return ({ webhookId, body }, nowMs) => {
    const seconds = Math.floor(nowMs / MS_PER_SECOND)
    return {
      'webhook-id': webhookId,
      'webhook-timestamp': String(seconds),
      'webhook-signature': webhook.sign(webhookId, new Date(seconds * MS_PER_SECOND), body),
    }
  }
}

function openWebhook(secret: string, key: string): Webhook {
  try {
    return new Webhook(secret)
  } catch (cause) {
    throw new AppError('invalid', `${key} must be base64, as in whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`, {
      cause,
    })
  }
}
