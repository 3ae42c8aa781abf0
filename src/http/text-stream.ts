/** A body that is made while it is sent, at the pace of its reader; ends early when the reader goes. */
export function textStream(chunks: AsyncGenerator<string, void>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const step = await chunks.next()
      if (step.done === true) controller.close()
      else controller.enqueue(Buffer.from(step.value))
    },
    cancel: async () => {
      await chunks.return(undefined)
    },
  })
}
