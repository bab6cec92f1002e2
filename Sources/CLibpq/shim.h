// libpq as it is: no macro of it is needed from Swift.
#include <libpq-fe.h>
