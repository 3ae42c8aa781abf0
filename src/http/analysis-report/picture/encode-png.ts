import { crc32, deflateSync } from 'node:zlib'

import type { Canvas } from './canvas.js'

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
const CHANNELS = 3
const BITS_A_CHANNEL = 8
const TRUE_COLOUR = 2

/** Encodes a picture as PNG (ISO/IEC 15948) with 8 bits per channel and unfiltered rows. */
export function encodePng({ width, height, pixels }: Canvas): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([BITS_A_CHANNEL, TRUE_COLOUR], 8)
  const stride = width * CHANNELS
  const rows = Buffer.alloc(height * (stride + 1))
  for (let row = 0; row < height; row += 1) {
    rows.set(pixels.subarray(row * stride, (row + 1) * stride), row * (stride + 1) + 1)
  }
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}
