import { AppError } from '../errors/app-error.js'
import type { OutboxMessage } from '../store/ports/outbox-store.js'
import type { WriteOperation } from '../store/ports/transaction.js'
import { readNotices } from './read-notices.js'

interface NewProgress {
  /** The progress that the messages were made from; undefined at first. */
  readonly before: string | undefined
  readonly after: string
  readonly messages: readonly OutboxMessage[]
}

/**
 * Enqueues messages and stores the progress, so that each record of the trail is notified once.
 * Raises `conflict` if another process has stored a progress.
 */
export const storeProgress: WriteOperation<NewProgress, void> = {
  name: 'notifications.store-progress',
  isBackground: true,
  apply: async ({ notifications, outbox }, { before, after, messages }) => {
    if ((await notifications.progress()) !== before)
      throw new AppError('conflict', 'another service has sent these notifications')
    for (const message of messages) await outbox.enqueue(message)
    await notifications.saveProgress(after)
  },
}

export const notificationReads = [readNotices] as const
export const notificationWrites = [storeProgress] as const
