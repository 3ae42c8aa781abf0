import type { StoredMessage } from '../../src/store/ports/outbox-store.js'

/** A callback that waits for its first attempt, with members of the test. */
export function storedMessage(given: Partial<StoredMessage> = {}): StoredMessage {
  return {
    id: 1,
    webhookId: 'msg_1',
    topic: 'gate.callback',
    url: 'http://127.0.0.1:1/done',
    receiver: 'http://127.0.0.1:1',
    body: '{}',
    state: 'pending',
    attempts: 0,
    createdMs: 0,
    nextAttemptMs: 0,
    triedSinceMs: 0,
    ...given,
  }
}
