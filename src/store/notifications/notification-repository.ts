import type { Kysely } from 'kysely'
import type { NotificationReader, NotificationRepository } from '../ports/notification-store.js'
import type { ServiceDatabase } from '../tables/service-database.js'

/** The only row. */
const NAME = 'trail'

/** Reads the progress of notifications on any connection. */
export function makeNotificationReader(db: Kysely<ServiceDatabase>): NotificationReader {
  return {
    progress: async () => {
      const row = db.selectFrom('notification_progress').select('progress').where('name', '=', NAME)
      return (await row.executeTakeFirst())?.progress
    },
  }
}

/** Makes the repository of notifications on a connection that writes. */
export function makeNotificationRepository(db: Kysely<ServiceDatabase>): NotificationRepository {
  return {
    ...makeNotificationReader(db),
    saveProgress: async (progress) => {
      await db
        .insertInto('notification_progress')
        .values({ name: NAME, progress })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ progress }))
        .execute()
    },
  }
}
