import { bodyTooLarge } from '../../src/http/exchange/body-errors.js'
import { Exchange } from '../../src/http/exchange/exchange.js'

interface FakeRequest {
  readonly method?: string
  readonly url?: string
  /** By name in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** An exchange without a socket, which records the response. */
export class FakeExchange extends Exchange {
  readonly isTls = false
  readonly remoteAddress = '127.0.0.1'
  readonly #request: FakeRequest
  status = 0
  sent = ''
  /** The bytes of each turn that was taken. */
  readonly turns: number[] = []

  constructor(request: FakeRequest) {
    super(request.method ?? 'POST', request.url ?? '/', 'request-1')
    this.#request = request
  }

  header(name: string): string | undefined {
    return this.#request.headers?.[name]
  }

  get rawHeaders(): readonly string[] {
    return Object.entries(this.#request.headers ?? {}).flat()
  }

  takeTurn(bytes: number): Promise<void> {
    this.turns.push(bytes)
    return Promise.resolve()
  }

  makePage<T>(make: () => Promise<T>): Promise<T> {
    return make()
  }

  readBytes(limit: number): Promise<Buffer> {
    const bytes = Buffer.from(this.#request.body ?? '')
    return bytes.length > limit ? Promise.reject(bodyTooLarge(limit)) : Promise.resolve(bytes)
  }

  send(status: number, body: string | Buffer): void {
    this.status = status
    this.sent = body.toString()
  }

  whenGone(): void {
    // The client never disconnects.
  }

  protected cut(): void {
    this.status = 0
  }
}
