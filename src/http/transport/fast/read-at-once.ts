import { Socket } from 'node:net'

type Take = (chunk: Buffer) => void

/**
 * Has each chunk that a socket reads taken as it comes. The stream that it is would look whether others wait for it, tell all who listen, and look in a tick
 * of its own whether there is more to read, though the system says so: a twelfth of what small decisions cost while V8 has not compiled that. What comes
 * while the stream is paused, or behind what it kept then, goes its usual way.
 */
export function readAtOnce(socket: Socket, take: Take): void {
  socket.on('data', take)
  socket.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    if (chunk === null || socket.readableFlowing !== true || socket.readableLength > 0)
      return Socket.prototype.push.call(socket, chunk, encoding)
    take(chunk)
    return true
  }
}

/** Has the socket read as others do, before somebody else has it. */
export function endReadingAtOnce(socket: Socket, take: Take): void {
  socket.off('data', take)
  // Taking the member away would make every further look at the socket slow.
  socket.push = (chunk: Buffer | null, encoding?: BufferEncoding) =>
    Socket.prototype.push.call(socket, chunk, encoding)
}
