import type { Socket } from 'node:net'

import type { AppError } from '../../../errors/app-error.js'
import { CollectedBytes } from '../../../lib/collected-bytes.js'
import type { ClientCertificate } from '../../exchange/client-certificate.js'
import { tooManyWait } from '../../exchange/line-pace.js'
import type { BodyReceiver, GiveUpReason, HalfBodies } from '../half-bodies.js'
import type { UnreadAnswers } from '../unread-answers.js'
import { refuseConnection } from '../refuse-connection.js'
import { certificateOf, isEncrypted } from '../tls/certificate-of.js'
import { plainAnswerHead } from './plain-answer.js'
import type { PlainAnswer } from './plain-answer.js'
import { PlainExchange } from './plain-exchange.js'
import type { AnsweringConnection } from './plain-exchange.js'
import { beginsWith } from './read-plain-head.js'
import type { PlainHead } from './read-plain-head.js'
import type { WaitingLine } from '../waiting-line.js'

/** What a connection needs of the host that it is in. */
export interface ConnectionHost {
  /** Counts up with every sweep, so that a connection knows its age without a clock. */
  readonly tick: number
  readonly isDraining: boolean
  readonly keepAliveMs: number
  /** How long a caller may take none of an answer that is on its way. */
  readonly stalledMs: number
  /** The head of a request for the fast transport at the beginning of some bytes; undefined for all others. */
  readonly readHead: (bytes: Buffer) => PlainHead | undefined
  readonly requestIdFor: (claimed: string | undefined) => string
  readonly answer: (exchange: PlainExchange) => void
  readonly line: WaitingLine
  /** Whether a request waits where others do. */
  readonly waits: (head: PlainHead) => boolean
  readonly halfBodies: HalfBodies
  readonly unreadAnswers: UnreadAnswers
  /** Told once, with the first whole request. */
  readonly proven: (socket: Socket) => void
  /** Gives the connection, with what it has read, to the standard server for good. */
  readonly handOver: (connection: PlainConnection, socket: Socket, unread: Buffer) => void
  readonly closed: (connection: PlainConnection) => void
}

/** `new`: nothing has come yet; `waiting`: between two requests; `reading` a body; `answering`; `ending`: no more is read. */
type State = 'new' | 'waiting' | 'reading' | 'answering' | 'ending'

/** One connection as long as it sends plain requests, one after the other. */
export class PlainConnection implements AnsweringConnection, BodyReceiver {
  readonly #socket: Socket
  readonly #host: ConnectionHost
  #state: State = 'new'
  #sinceTick: number
  #isProven = false
  /** Whether an answer is on its way that the system had no room for. */
  #isSending = false
  /** The last head: most callers send the same one again and again, and connections that send the same have it in common. */
  #head: PlainHead | undefined
  #exchange: PlainExchange | undefined
  /** The part of a body that has come, or what came while an answer was under way; undefined for none. */
  #unread: CollectedBytes | undefined

  constructor(socket: Socket, host: ConnectionHost) {
    this.#socket = socket
    this.#host = host
    this.#sinceTick = host.tick
    socket.on('data', this.#read)
    socket.on('end', this.#ended)
    socket.on('close', this.#closed)
    socket.on('error', this.#failed)
    socket.on('drain', this.#drained)
  }

  get clientCertificate(): ClientCertificate | undefined {
    return certificateOf(this.#socket)
  }

  get isTls(): boolean {
    return isEncrypted(this.#socket)
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress
  }

  /** How it stands, and for how many sweeps it has; `isSending` while an answer is on its way, whose reader has a time limit of its own. */
  get standing(): { readonly state: State; readonly ticks: number; readonly isSending: boolean } {
    return { state: this.#state, ticks: this.#host.tick - this.#sinceTick, isSending: this.#isSending }
  }

  answer(answer: PlainAnswer): void {
    const socket = this.#socket
    if (socket.destroyed || this.#state === 'ending') return
    // What came behind the request is answered too, by the standard server; behind half a request nothing can be read.
    const isLast =
      this.#head?.isLast === true ||
      this.#state === 'reading' ||
      (this.#host.isDraining && this.#unread === undefined) ||
      socket.readableEnded
    const { body } = answer
    const bodyLength = typeof body === 'string' ? Buffer.byteLength(body) : body.length
    const head = plainAnswerHead(answer, bodyLength, isLast ? 0 : this.#host.keepAliveMs)
    const isRead = this.#host.unreadAnswers.hold(socket, bodyLength)
    if (typeof body === 'string')
      socket.write(head + body, bodyLength === body.length ? 'latin1' : 'utf8', isRead)
    else socket.write(Buffer.concat([Buffer.from(head), body]), isRead)
    if (socket.writableNeedDrain) this.#watchReader()
    if (isLast) this.end()
    else this.#answered()
  }

  /** Ends it as soon as what was written is out. */
  end(): void {
    this.#enter('ending')
    const socket = this.#socket
    // Of what is with the system already, closing tells the caller the end; ending the stream first takes a system call, and turns of the loop, more.
    if (socket.writableLength === 0 && !this.isTls) socket.destroy()
    else socket.destroySoon()
  }

  /** Ends it at once. */
  destroy(): void {
    this.#socket.destroy()
  }

  /** Half a body is given up for others, or because the rest does not come. */
  giveUp(reason: GiveUpReason): void {
    this.#unread = undefined
    this.#refuse(reason === 'stalled' ? 'ERR_HTTP_REQUEST_TIMEOUT' : 'TOO_MANY_HALF_BODIES')
  }

  /** Answers the request that is under way, or has come in part, with an error. */
  refuse(error: AppError): void {
    const isCut = this.#state === 'reading'
    if (isCut || this.#state === 'answering') this.#exchange?.fail(error)
    if (isCut) this.#answerBrokenOff()
  }

  /** Tells the caller that the request did not arrive in time, as the standard server does. */
  refuseLate(): void {
    this.#refuse('ERR_HTTP_REQUEST_TIMEOUT')
  }

  readonly #read = (chunk: Buffer): void => {
    if (this.#state === 'reading') this.#readBody(chunk)
    else if (this.#state === 'answering') this.#keep(chunk)
    else if (this.#state !== 'ending') this.#begin(chunk)
  }

  #begin(chunk: Buffer): void {
    const head = this.#readHead(chunk)
    if (head === undefined || chunk.length > head.length + head.bodyLength) {
      this.#handOver(chunk)
      return
    }
    this.#head = head
    const requestId = this.#host.requestIdFor(head.headers.get('x-request-id'))
    this.#exchange = new PlainExchange(head, requestId, this)
    const body = chunk.subarray(head.length)
    if (body.length === head.bodyLength) this.#answer(body)
    else {
      this.#enter('reading')
      this.#keep(body)
    }
  }

  #readHead(chunk: Buffer): PlainHead | undefined {
    const known = this.#head
    if (known !== undefined && beginsWith(chunk, known)) return known
    return this.#host.readHead(chunk)
  }

  #readBody(chunk: Buffer): void {
    this.#keep(chunk)
    if (this.#state !== 'reading') return
    const wanted = this.#head?.bodyLength ?? 0
    const unread = this.#unread
    if (unread === undefined || unread.length < wanted) return
    this.#host.halfBodies.release(this)
    const bytes = unread.take()
    // What comes behind the body waits until the answer is out, and then is for the standard server.
    if (bytes.length > wanted) unread.add(bytes.subarray(wanted))
    else this.#unread = undefined
    this.#answer(bytes.subarray(0, wanted))
  }

  #answer(body: Buffer): void {
    const exchange = this.#exchange
    if (exchange === undefined) return
    this.#enter('answering')
    if (!this.#isProven) {
      this.#isProven = true
      this.#host.proven(this.#socket)
    }
    exchange.body = body
    const { line } = this.#host
    // Looked up only where others wait, which is seldom.
    const waits = (line.isOpen || line.isFull) && this.#waits
    if (!waits) this.#answerNow(exchange)
    else if (line.isOpen)
      line.answerInTurn(body.length, (isTooLate) => this.#answerLater(exchange, isTooLate))
    else this.#answerLater(exchange, true)
  }

  get #waits(): boolean {
    return this.#head !== undefined && this.#host.waits(this.#head)
  }

  #answerNow(exchange: PlainExchange): void {
    const begun = performance.now()
    this.#host.answer(exchange)
    this.#host.line.answered(performance.now() - begun)
  }

  /** Meanwhile its caller may have gone, or the service may have begun to end. */
  #answerLater(exchange: PlainExchange, isTooLate: boolean): void {
    if (isTooLate) exchange.refusal = tooManyWait()
    if (this.#state === 'answering' && exchange.status === 0) this.#host.answer(exchange)
  }

  #answered(): void {
    this.#exchange = undefined
    this.#enter('waiting')
    if (this.#unread !== undefined) this.#handOver(this.#unread.take())
    // A caller that does not read its answers gets no more of them.
    else if (this.#socket.writableNeedDrain) this.#socket.pause()
  }

  #keep(chunk: Buffer): void {
    this.#unread ??= new CollectedBytes()
    this.#unread.add(chunk)
    // Who sends on without waiting for the answer must wait himself.
    if (this.#state === 'answering') this.#socket.pause()
    else this.#host.halfBodies.hold(this, chunk.length)
  }

  #handOver(unread: Buffer): void {
    const socket = this.#socket
    this.#enter('ending')
    socket.off('data', this.#read)
    socket.off('end', this.#ended)
    socket.off('close', this.#closed)
    socket.off('error', this.#failed)
    socket.off('drain', this.#drained)
    this.#endWatch()
    this.#host.handOver(this, socket, unread)
  }

  /** Ends it where none of an answer goes out for too long, as Node sees it; until all of it is out. */
  #watchReader(): void {
    if (!this.#isSending) this.#socket.setTimeout(this.#host.stalledMs, this.#failed)
    this.#isSending = true
  }

  #endWatch(): void {
    if (this.#isSending) this.#socket.setTimeout(0, this.#failed)
    this.#isSending = false
  }

  readonly #drained = (): void => {
    this.#endWatch()
    if (this.#state !== 'waiting') return
    this.#enter('waiting')
    this.#socket.resume()
  }

  /** The caller will send no more; an answer that is under way still goes out. */
  readonly #ended = (): void => {
    if (this.#state === 'reading') this.#refuse('HPE_INVALID_EOF_STATE')
    else if (this.#state !== 'answering') this.end()
  }

  readonly #failed = (): void => {
    this.#socket.destroy()
  }

  readonly #closed = (): void => {
    const isCut = this.#state === 'reading'
    this.#host.halfBodies.release(this)
    if (this.#state === 'answering') this.#exchange?.gone()
    this.#enter('ending')
    if (isCut) this.#answerBrokenOff()
    this.#host.closed(this)
  }

  /** Refuses what will never be a whole request, in the words for the code that node's parser has for it. */
  #refuse(code: string): void {
    const isCut = this.#state === 'reading'
    this.#enter('ending')
    refuseConnection(Object.assign(new Error(code), { code }), this.#socket)
    if (isCut) this.#answerBrokenOff()
  }

  /** Nobody hears the answer to half a request, but it is counted and logged. */
  #answerBrokenOff(): void {
    if (this.#exchange !== undefined) this.#host.answer(this.#exchange)
  }

  #enter(state: State): void {
    this.#state = state
    this.#sinceTick = this.#host.tick
  }
}
