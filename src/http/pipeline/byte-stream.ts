/** What is told how a body ended. */
export interface StreamEnds {
  /** It cannot be made to its end: must break the connection off, since what sends it would end it as if it were whole. */
  readonly failed: (error: unknown) => void
  /** Called once, however it ended. */
  readonly ended?: () => void
}

/**
 * A body that is made while it is sent, at the pace of its reader; ends early when the reader goes. What goes wrong in between breaks
 * the connection off, so that nobody takes what came for all of it.
 */
export function byteStream(
  chunks: AsyncGenerator<Uint8Array, void>,
  { failed, ended = () => undefined }: StreamEnds,
): ReadableStream<Uint8Array> {
  let isOver = false
  const end = (): void => {
    if (!isOver) ended()
    isOver = true
  }
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const step = await chunks.next()
        if (isOver) return
        if (step.done !== true) {
          controller.enqueue(step.value)
          return
        }
      } catch (error) {
        failed(error)
      }
      // After a failure too: an error of the stream would be printed by the library that reads it.
      controller.close()
      end()
    },
    cancel: async () => {
      end()
      await chunks.return(undefined)
    },
  })
}
