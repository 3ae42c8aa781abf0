import type { Reply } from './source-connection.js'

/** Number of records in a page. It is halved after an answer that was too large. */
export class PageSize {
  #records: number

  constructor(records: number) {
    this.#records = records
  }

  /** The number of records of the next page. */
  get records(): number {
    return this.#records
  }

  /**
   * Fetches a page by `fetchPage`, smaller if the server needs it. Returns a sentence if there is
   * no page, or if the answer is something else.
   */
  async read<Page extends object>(
    sourceName: string,
    fetchPage: (records: number) => Promise<Reply<Page | string>>,
  ): Promise<Page | string> {
    for (;;) {
      const reply = await fetchPage(this.#records)
      if (reply.isAnswered) {
        const { answer } = reply
        return typeof answer === 'string' ? `${sourceName}: ${answer}` : answer
      }
      if (!reply.isTooLarge || this.#records === 1) return reply.problem
      this.#records = Math.floor(this.#records / 2)
    }
  }
}
