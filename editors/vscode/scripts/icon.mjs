// Draws images/icon.png: the bars of a recording inside an arrow that comes around to where it began.
import { writeFile } from "node:fs/promises";
import { crc32, deflateSync } from "node:zlib";

const SIZE = 256;
const SAMPLES = 4; // in each direction of a pixel
const GROUND = [16, 32, 26];
const ARROW = [118, 185, 0];
const BARS = [236, 244, 232];
const RING = { radius: 86, width: 17, gap: [-0.95, -0.25] }; // radians; the gap is where the arrow's head stands
const HEIGHTS = [26, 54, 84, 44, 66, 30];

const ground = (x, y) => roundedBox(x - 128, y - 128, 122, 122, 54) <= 0;
const bars = (x, y) => HEIGHTS.some((height, i) => roundedBox(x - 128 - (i - 2.5) * 18, y - 128, 5.5, height / 2, 5.5) <= 0);

function ring(x, y) {
  const [dx, dy] = [x - 128, y - 128];
  const angle = Math.atan2(dy, dx);
  const inGap = angle > RING.gap[0] && angle < RING.gap[1];
  return (!inGap && Math.abs(Math.hypot(dx, dy) - RING.radius) <= RING.width / 2) || head(dx, dy);
}

/** The arrow's head: a triangle at the end of the ring, pointing on along it. */
function head(dx, dy) {
  const end = RING.gap[0] - 0.04;
  const [cx, cy] = [Math.cos(end) * RING.radius, Math.sin(end) * RING.radius];
  const along = -(dx - cx) * Math.sin(end) + (dy - cy) * Math.cos(end);
  const across = (dx - cx) * Math.cos(end) + (dy - cy) * Math.sin(end);
  return along >= 0 && along <= 36 && Math.abs(across) <= 25 * (1 - along / 36);
}

function roundedBox(x, y, halfWidth, halfHeight, radius) {
  const [qx, qy] = [Math.abs(x) - halfWidth + radius, Math.abs(y) - halfHeight + radius];
  return Math.hypot(Math.max(qx, 0), Math.max(qy, 0)) + Math.min(Math.max(qx, qy), 0) - radius;
}

function colour(x, y) {
  if (bars(x, y)) return BARS;
  if (ring(x, y)) return ARROW;
  return ground(x, y) ? GROUND : undefined;
}

function pixel(px, py) {
  const sum = [0, 0, 0];
  let covered = 0;
  for (let i = 0; i < SAMPLES * SAMPLES; i++) {
    const found = colour(px + ((i % SAMPLES) + 0.5) / SAMPLES, py + (Math.floor(i / SAMPLES) + 0.5) / SAMPLES);
    if (found) {
      covered++;
      found.forEach((value, channel) => (sum[channel] += value));
    }
  }
  return covered ? [...sum.map((value) => Math.round(value / covered)), Math.round((255 * covered) / SAMPLES ** 2)] : [0, 0, 0, 0];
}

function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

const header = Buffer.alloc(13);
header.writeUInt32BE(SIZE, 0);
header.writeUInt32BE(SIZE, 4);
header.set([8, 6, 0, 0, 0], 8); // 8 bits a channel, with transparency
const rows = Array.from({ length: SIZE }, (_, y) => [0, ...Array.from({ length: SIZE }, (_, x) => pixel(x, y)).flat()]);
await writeFile(
  "images/icon.png",
  Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.from(rows.flat()), { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]),
);
