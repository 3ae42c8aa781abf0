/** A body that is made while it is sent, at the pace of its reader; ends early when the reader goes. */
export function byteStream(chunks: AsyncGenerator<Uint8Array, void>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const step = await chunks.next()
      if (step.done === true) controller.close()
      else controller.enqueue(step.value)
    },
    cancel: async () => {
      await chunks.return(undefined)
    },
  })
}
