import { bodyBrokeOff, bodyTooLarge } from '../../exchange/body-errors.js'
import type { ClientCertificate } from '../../exchange/client-certificate.js'
import { Exchange, JSON_TYPE } from '../../exchange/exchange.js'
import type { PlainAnswer } from './plain-answer.js'
import type { PlainHead } from './read-plain-head.js'

/** What an exchange needs of the connection that it came on. */
export interface AnsweringConnection {
  readonly clientCertificate: ClientCertificate | undefined
  readonly isTls: boolean
  readonly remoteAddress: string | undefined
  answer(answer: PlainAnswer): void
  destroy(): void
}

/** An exchange over a request that the fast transport read. */
export class PlainExchange extends Exchange {
  readonly #headers: ReadonlyMap<string, string>
  readonly #connection: AnsweringConnection
  /** All of the body; undefined while it has not arrived, and for good when it broke off. */
  body: Buffer | undefined
  status = 0
  override readonly isAdmitted = true

  constructor(head: PlainHead, requestId: string, connection: AnsweringConnection) {
    super(head.method, head.url, requestId)
    this.#headers = head.headers
    this.#connection = connection
  }

  get remoteAddress(): string | undefined {
    return this.#connection.remoteAddress
  }

  override get clientCertificate(): ClientCertificate | undefined {
    return this.#connection.clientCertificate
  }

  get isTls(): boolean {
    return this.#connection.isTls
  }

  header(name: string): string | undefined {
    return this.#headers.get(name)
  }

  /** It stood in line before it was handed on. */
  standInLine(): undefined {
    return undefined
  }

  /** Nothing that it is for makes pages. */
  takePageTurn(): Promise<() => void> {
    return Promise.resolve(() => undefined)
  }

  readBytes(limit: number): Buffer | Promise<Buffer> {
    if (this.body === undefined) return Promise.reject(bodyBrokeOff())
    if (this.body.length > limit) return Promise.reject(bodyTooLarge(limit))
    return this.body
  }

  send(...[status, body, contentType = JSON_TYPE, extraHeaders = []]: Parameters<Exchange['send']>): void {
    if (this.status !== 0) return
    this.status = status
    this.#connection.answer({ status, body, contentType, requestId: this.requestId, extraHeaders })
  }

  protected cut(): void {
    this.#connection.destroy()
  }
}
