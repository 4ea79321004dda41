// The page: where everything is put together.

import "./style/page.css";
