/** Reads the progress of notifications. */
export interface NotificationReader {
  /** JSON text; undefined before the first notification. */
  progress(): Promise<string | undefined>
}

/** Writes the progress of notifications. */
export interface NotificationRepository extends NotificationReader {
  saveProgress(progress: string): Promise<void>
}
