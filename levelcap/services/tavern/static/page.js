// The script of every page.
import './battle.js';
import './plot.js';
import { count } from './clock.js';
import { listenForFiles } from './drop.js';
import { listenForKeys } from './keys.js';
import { listen } from './live.js';
import { takeOrders } from './orders.js';
import { listenForNotices } from './notify.js';
import { listenForWords } from './palette.js';
import { watch } from './parts.js';
import { writeRecipes } from './recipe.js';
import { listenForSounds } from './sound.js';
import { guide } from './tour.js';

window.__tavern = { played: [], live: false };
takeOrders();
listenForKeys();
listenForFiles();
listenForSounds();
writeRecipes();
listenForNotices();
listenForWords();
count();
watch();
guide();
listen();
document.querySelector('.places [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
