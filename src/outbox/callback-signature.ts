import { Webhook } from 'standardwebhooks'
import { AppError } from '../errors/app-error.js'
import type { StoredMessage } from '../store/ports/outbox-store.js'

const MS_PER_SECOND = 1000

/**
 * The headers that identify and sign a callback: `webhook-id`, `webhook-timestamp` in seconds, `webhook-signature`
 * (Standard Webhooks, "Signature scheme", symmetric). The timestamp is that of the attempt, the id that of the message.
 * Raises `invalid` for a secret that is not base64, with or without `whsec_` in front.
 */
export function makeCallbackSigner(
  secret: string,
): (message: StoredMessage, nowMs: number) => Readonly<Record<string, string>> {
  const webhook = openWebhook(secret)
  return ({ webhookId, body }, nowMs) => {
    const seconds = Math.floor(nowMs / MS_PER_SECOND)
    return {
      'webhook-id': webhookId,
      'webhook-timestamp': String(seconds),
      'webhook-signature': webhook.sign(webhookId, new Date(seconds * MS_PER_SECOND), body),
    }
  }
}

function openWebhook(secret: string): Webhook {
  try {
    return new Webhook(secret)
  } catch (cause) {
    throw new AppError(
      'invalid',
      'callbacks.secret must be base64, as in whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      {
        cause,
      },
    )
  }
}
